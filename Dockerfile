# quantshift with everything, as a command. In a clone:
#
#   docker build -t quantshift .
#   docker run --rm -v "$PWD:/data" quantshift judge verdicts.csv --verdict judge --label human
#
# EXTRAS= (empty) builds the small image, which is enough for `judge`.
FROM python:3.11-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim
ARG EXTRAS=[all]
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)${EXTRAS}" \
    && rm -r /wheels \
    && useradd --create-home quantshift
ENV NUMBA_CACHE_DIR=/home/quantshift/.cache/numba \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1
USER quantshift
WORKDIR /data
ENTRYPOINT ["quantshift"]
CMD ["--help"]
