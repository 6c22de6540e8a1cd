"""The rules that must hold in the end: values in, violations out."""

from collections import Counter, defaultdict


class Violation:
    """A rule that was violated, and by what."""

    def __init__(self, rule, detail):
        self.rule, self.detail = rule, detail

    def __repr__(self):
        return f"{self.rule}: {self.detail}"

    def __eq__(self, other):
        return (self.rule, self.detail) == (other.rule, other.detail)


def some(values):
    """The first values, for a message."""
    values = sorted(map(str, values))
    return ", ".join(values[:5]) + (f" and {len(values) - 5} more" if len(values) > 5 else "")


def no_duplicates(kind, names):
    """No record was created twice. Names are unique where they are made."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [Violation("duplicate create", f"{len(twice)} {kind} twice on the org: {some(twice)}")] if twice else []


def all_arrived(kind, written, org, uncertain=()):
    """What was certainly written locally is on the org, with the last value that was written.

    `written` and `org` map names to values. Names in `uncertain` may have a newer value, whose writer heard no answer.
    """
    missing = [name for name in written if name not in org]
    stale = [name for name, value in written.items() if name in org and org[name] != value and name not in uncertain]
    found = []
    if missing:
        found.append(Violation("lost record", f"{len(missing)} {kind} never arrived at the org: {some(missing)}"))
    if stale:
        found.append(Violation("lost edit", f"{len(stale)} {kind} have an old value on the org: {some(stale)}"))
    return found


def same(soup, entries, org):
    """At rest the soup equals the org. Both map ids to a record's fields."""
    found = []
    for rule, ids in (("missing entry", set(org) - set(entries)), ("ghost entry", set(entries) - set(org)),
                      ("stale entry", {one for one in set(org) & set(entries) if org[one] != entries[one]})):
        if ids:
            found.append(Violation(rule, f"{len(ids)} in {soup}: {some(ids)}"))
    return found


def nothing_left(soup, dirty, conflicts, waiting):
    """At rest nothing waits to be sent or decided."""
    left = {"dirty entries": dirty, "conflicts": conflicts, "uploads in doubt": waiting}
    return [Violation("work left", f"{count} {what} in {soup}") for what, count in left.items() if count]


def ledger_is_right(jobs, runs):
    """Each job has one owner at a time, fences rise by one, and no attempt is missing or without an end.

    `jobs` maps ids to (state, fence); `runs` are (job, fence, owner, began, ended, outcome), times are numbers or None.
    """
    found, by_job = [], defaultdict(list)
    for run in sorted(runs):
        by_job[run[0]].append(run)
    for job in by_job.keys() - jobs.keys():
        found.append(Violation("run without a job", f"job {job}"))
    for job, (state, fence) in sorted(jobs.items()):
        attempts = by_job[job]
        fences = [run[1] for run in attempts]
        if state == "running":
            found.append(Violation("job still runs", f"job {job} at rest"))
        if fence != max(fences, default=0):
            found.append(Violation("lost run", f"job {job} has fence {fence}, its last run {max(fences, default=0)}"))
        # The last 200 attempts are kept.
        if len(fences) < min(fence, 200) or fences != list(range(fence - len(fences) + 1, fence + 1)):
            found.append(Violation("fences", f"job {job} has runs {some(fences)} of {fence}"))
        for before, after in zip(attempts, attempts[1:]):
            if before[4] is not None and before[4] > after[3]:
                found.append(Violation("two owners", f"job {job}: run {after[1]} began before run {before[1]} ended"))
        for run in attempts:
            if run[4] is None or not run[5]:
                found.append(Violation("run without an end", f"job {job}, run {run[1]} of {run[2]}"))
    return found


def told_is_recorded(told, runs):
    """What workers told as done is recorded. A killed worker may have told less than it did.

    `told` are pairs of owner and job.
    """
    recorded = Counter((run[2], run[0]) for run in runs if run[5] == "done")
    return [Violation("forgotten run", f"{owner} told that job {job} is done {count} times, recorded are {recorded[owner, job]}")
            for (owner, job), count in sorted(Counter(told).items()) if count > recorded[owner, job]]


def written_by_holders(states):
    """Each page and state of a sync was written by the process that held the sync's lease.

    `states` are (sync, writer, holder, fence, status). Another process may only note that a run whose lease expired was stopped.
    """
    others = [(sync, fence) for sync, writer, holder, fence, status in states if writer != holder and status != "STOPPED"]
    return [Violation("page of a former owner", f"{count} in sync {sync} with fence {fence}")
            for (sync, fence), count in sorted(Counter(others).items())]


def fences_rise(fences):
    """Each new owner of a lease got a higher fence. `fences` maps leases to fences in the order in which they were given."""
    return [Violation("fence went back", f"{name}: {after} after {before}") for name, given in sorted(fences.items())
            for before, after in zip(given, given[1:]) if after <= before]


def calls_are_reserved(calls, reserved, budget):
    """All calls that the org counted were reserved, and the reservations are within the budget."""
    found = []
    if calls > reserved:
        found.append(Violation("calls beyond those reserved", f"{calls} calls, {reserved} reserved"))
    if reserved > budget:
        found.append(Violation("reserved beyond the budget", f"{reserved} of {budget}"))
    return found


def no_secrets(texts, secrets):
    """No log has a password or token. `texts` maps files' names to what is in them, `secrets` names to values."""
    return [Violation("secret in a log", f"{name} in {file}")
            for file, text in sorted(texts.items()) for name, secret in sorted(secrets.items()) if secret in text]
