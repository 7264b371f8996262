"""Worker processes: nobody hears from them when a command is stopped or killed."""

import subprocess
import sys

import psutil
import pytest


def test_workers_end_with_their_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, signal, sys, time\n"
        "from quantshift.base.processes import WorkerPool\n"
        "if __name__ == '__main__':\n"
        "    pool = WorkerPool(1)\n"
        "    print(pool.submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # Reading to the end waits for the worker, too, which has inherited the pipe.
    done = subprocess.run([sys.executable, script], capture_output=True, timeout=60, check=False)
    assert done.returncode == -9
    _, alive = psutil.wait_procs(_existing(int(done.stdout)), timeout=10)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def _existing(pid):
    return [psutil.Process(pid)] if psutil.pid_exists(pid) else []


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.05, 0.5])
def test_ctrl_c_while_they_start_is_heard_by_whoever_started_them_alone(tmp_path, seconds):
    """No worker complains, nor does one that was about to be started."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, signal, threading, time\n"
        "from quantshift.base.processes import WorkerPool\n"
        "if __name__ == '__main__':\n"
        "    pool = WorkerPool(2)\n"
        "    try:\n"
        f"        threading.Timer({seconds}, os.killpg, (0, signal.SIGINT)).start()\n"
        "        for _ in range(2):\n"
        "            pool.submit(time.sleep, 60)\n"
        "        time.sleep(60)\n"
        "    except KeyboardInterrupt:\n"
        "        pool.stop()\n"
        "        print('stopped', flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")
