# quantshift with everything, as a command. In a clone:
#
#   docker build -t quantshift .
#   docker run --rm -v "$PWD:/data" quantshift judge verdicts.csv --verdict judge --label human
#
# EXTRAS= (empty) leaves out plots, Excel, databases, downloads and Dask.
FROM python:3.11-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim
ARG EXTRAS=[all]
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)${EXTRAS}" \
    && rm -r /wheels \
    && useradd --create-home quantshift
# Where compiled loops are kept, and for which processors they are made.
ENV NUMBA_CACHE_DIR=/home/quantshift/.cache/numba \
    NUMBA_CPU_NAME=generic \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1
USER quantshift
# Loops are compiled here, for any processor of this kind, so that no container has to.
RUN cd "$(mktemp -d)" && quantshift example > log \
    && quantshift quantify --train examples/reviews.csv --sample examples/new-reviews.csv \
        --label sentiment --text review > log \
    && quantshift quantify --train examples/customers.csv --sample examples/new-customers.csv \
        --label left --columns causes > log \
    && rm -r "$PWD"
WORKDIR /data
ENTRYPOINT ["quantshift"]
CMD ["--help"]
