"""An Airflow DAG: every morning the previous day's share of spam, with a history and an alarm.

Put it into the DAGs folder. The day's file of scores, the model and the history are in FOLDER,
which all workers can access. A task that is retried, or a day that is cleared and run again,
measures the same batch again: both results are kept, and the last one counts. Exit code 3 is an
alarm: the task fails at once, without retries, and Airflow sends its usual notifications.

For Airflow 3. In Airflow 2, import `dag`, `task` and `teardown` from `airflow.decorators` and the
exceptions from `airflow.exceptions`.
"""

from datetime import datetime, timedelta

from airflow.sdk import dag, task, teardown
from airflow.sdk.exceptions import AirflowException, AirflowFailException

FOLDER = "/srv/posts"
ALARM = 3


@dag(
    schedule="0 6 * * *",
    start_date=datetime(2026, 1, 2),  # the first day to be estimated is January 1
    catchup=True,  # earlier days, in order, are the baseline
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
)
def prevalence() -> None:
    @task
    def estimate(day: str) -> str:
        """Estimate the posts of one day; `day` is filled in by Airflow (2026-03-02)."""
        import subprocess

        done = subprocess.run(
            [
                *("quantshift", "quantify", "--model", f"{FOLDER}/model"),
                *("--sample", f"{FOLDER}/posts-{day}.csv", "--history", f"{FOLDER}/history"),
                *("--fail-on", "alarm,unreliable", "--summary"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout.strip() or done.stderr.strip()
        if done.returncode == ALARM:
            raise AirflowFailException(output)
        if done.returncode:
            raise AirflowException(output)
        return output

    @teardown
    def page() -> None:
        """Write the page, also after an alarm. The run has failed nevertheless."""
        import subprocess

        page_command = ["quantshift", "history", "page", f"{FOLDER}/history"]
        subprocess.run([*page_command, "--html", f"{FOLDER}/history.html"], check=True)

    # The day before the run. (`ds` is that day in Airflow 2, but the day of the run in Airflow 3.)
    estimate("{{ macros.ds_add(data_interval_end | ds, -1) }}") >> page()


prevalence()
