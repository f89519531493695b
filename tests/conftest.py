"""What all tests share: how hard Hypothesis tries, and a PostgreSQL where there is one.

`EVH_TEST_PROFILE` chooses: `dev` (the default, about a dozen examples of each of many types), `ci` (more, a new seed
each time), `deep` (very many). The seed is printed at the top of each run; `EVH_TEST_SEED` (or `--hypothesis-seed`)
runs one again.
"""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Verbosity, settings

TOO_MUCH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("dev", max_examples=15, deadline=None, suppress_health_check=TOO_MUCH)
settings.register_profile("ci", max_examples=100, deadline=None, suppress_health_check=TOO_MUCH, print_blob=True)
settings.register_profile(
    "deep",
    max_examples=3000,
    deadline=None,
    suppress_health_check=TOO_MUCH,
    print_blob=True,
    verbosity=Verbosity.normal,
)
PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    """One seed for all property tests of a run, so that the header can say which. A shell that starts the tests in the
    background has them ignore Ctrl-C, and so would the programs they start and send it to: it means itself again."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("hypothesis_seed", None) is None:
        config.option.hypothesis_seed = os.environ.get("EVH_TEST_SEED") or str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> str:
    return f"hypothesis: profile {PROFILE}, seed {config.getoption('hypothesis_seed', None)}"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL whose user may create databases; skipped, with a line that says how to have one, where there is
    none."""
    from evh.testing.live import HOW_TO_HAVE_POSTGRES, postgres_programs, running_postgres

    given = os.environ.get("EVH_TEST_POSTGRES_URL")
    programs = postgres_programs()
    if given:
        yield given
    elif programs is None:
        pytest.skip(HOW_TO_HAVE_POSTGRES)
    else:
        with running_postgres(programs) as url:
            yield url
