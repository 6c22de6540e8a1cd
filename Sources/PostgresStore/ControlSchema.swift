/// The SQL of the control schema: what all stores of a database share.
enum ControlSchema {
  /// The i-th migration takes a schema from version i to i + 1. `{s}` stands for its quoted name.
  ///
  /// All objects are named with their schema, and every time is the server's.
  static let migrations = [tables + writerFunctions + jobFunctions + budgetFunctions]

  private static let tables = """
    CREATE TABLE {s}.stores (
      id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, org text NOT NULL, usr text NOT NULL, name text NOT NULL,
      version int NOT NULL, UNIQUE (org, usr, name));
    -- A writer is a process's connection: epoch rises with each reconnection, seq with each transaction.
    CREATE TABLE {s}.writers (
      id text PRIMARY KEY, epoch bigint NOT NULL DEFAULT 1, seq bigint NOT NULL DEFAULT 0, host text NOT NULL,
      seen timestamptz NOT NULL DEFAULT clock_timestamp()) WITH (fillfactor = 50);
    -- regular: when a repeated job was due by its interval, while an attempt out of turn has moved due.
    CREATE TABLE {s}.jobs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, store int NOT NULL REFERENCES {s}.stores ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('sync', 'script')), name text NOT NULL, args text NOT NULL DEFAULT '{}',
      queue text NOT NULL DEFAULT 'default', every_ms bigint CHECK (every_ms > 0),
      due timestamptz NOT NULL DEFAULT clock_timestamp(), regular timestamptz,
      state text NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'running', 'done', 'failed')),
      owner text, fence bigint NOT NULL DEFAULT 0, until timestamptz, attempts int NOT NULL DEFAULT 0,
      max_attempts int NOT NULL DEFAULT 5 CHECK (max_attempts > 0), error text, UNIQUE (store, kind, name))
      WITH (fillfactor = 60);
    CREATE INDEX jobs_due ON {s}.jobs (queue, due, id) WHERE state IN ('ready', 'running');
    -- A row for each attempt, which does not change after it ended.
    CREATE TABLE {s}.runs (
      job bigint NOT NULL REFERENCES {s}.jobs ON DELETE CASCADE, fence bigint NOT NULL, owner text NOT NULL,
      began timestamptz NOT NULL DEFAULT clock_timestamp(), ended timestamptz, outcome text, error text, counts text,
      PRIMARY KEY (job, fence));
    -- used: calls that our hosts reserved; others: calls beyond those that the org reported.
    CREATE TABLE {s}.budgets (
      org text, span_ms bigint, starts timestamptz, used bigint NOT NULL DEFAULT 0, others bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (org, span_ms, starts)) WITH (fillfactor = 50);

    """

  /// `step` is first in every writing transaction: this connection is still the writer, and the server
  /// remembers all that it acknowledged. `resume` waits for the lost connection's transaction to end,
  /// fences off late ones, and returns the last committed one.
  private static let writerFunctions = """
    CREATE FUNCTION {s}.step(a_id text, a_epoch bigint, a_seq bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE {s}.writers SET seq = a_seq, seen = clock_timestamp() WHERE id = a_id AND epoch = a_epoch AND seq = a_seq - 1;
      IF FOUND THEN RETURN; END IF;
      IF EXISTS (SELECT FROM {s}.writers WHERE id = a_id AND epoch = a_epoch) THEN
        RAISE EXCEPTION 'the server does not know the last transaction of writer %', a_id USING ERRCODE = 'TU004';
      END IF;
      RAISE EXCEPTION 'a newer connection has taken the place of writer %', a_id USING ERRCODE = 'TU003';
    END $$;
    CREATE FUNCTION {s}.resume(a_id text, OUT epoch bigint, OUT seq bigint) RETURNS SETOF record LANGUAGE sql AS $$
      UPDATE {s}.writers w SET epoch = w.epoch + 1, seen = clock_timestamp() WHERE w.id = a_id RETURNING w.epoch, w.seq $$;

    """

  /// `claim` takes a due job, or one whose worker has been silent for too long. `a_stores` limits it to
  /// stores, null for all. A job that ends its workers counts as failed after its last attempt.
  private static let jobFunctions = """
    CREATE FUNCTION {s}.next_due(a_due timestamptz, a_every_ms bigint, a_now timestamptz) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE AS $$
      SELECT CASE WHEN a_due > a_now THEN a_due ELSE a_due + a_every_ms
        * (floor(extract(epoch FROM a_now - a_due) * 1000 / a_every_ms) + 1)::double precision * interval '1 ms' END $$;
    CREATE FUNCTION {s}.claim(a_owner text, a_queue text, a_ttl_ms bigint, a_stores bigint[], a_kinds text[])
    RETURNS SETOF {s}.jobs LANGUAGE plpgsql AS $$
    DECLARE
      j {s}.jobs;
      t timestamptz := clock_timestamp();
    BEGIN
      LOOP
        SELECT * INTO j FROM {s}.jobs
          WHERE queue = a_queue AND ((state = 'ready' AND due <= t) OR (state = 'running' AND until < t))
            AND (a_stores IS NULL OR store = ANY (a_stores)) AND kind = ANY (a_kinds)
          ORDER BY due, id LIMIT 1 FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN RETURN; END IF;
        IF j.state = 'running' THEN
          UPDATE {s}.runs SET ended = t, outcome = 'lost' WHERE job = j.id AND fence = j.fence AND ended IS NULL;
          IF j.attempts >= j.max_attempts THEN
            UPDATE {s}.jobs SET state = CASE WHEN every_ms IS NULL THEN 'failed' ELSE 'ready' END,
              due = CASE WHEN every_ms IS NULL THEN due ELSE {s}.next_due(coalesce(regular, due), every_ms, t) END,
              regular = NULL, attempts = CASE WHEN every_ms IS NULL THEN attempts ELSE 0 END, owner = NULL, until = NULL,
              error = 'its worker vanished in the last attempt' WHERE id = j.id;
            CONTINUE;
          END IF;
        END IF;
        UPDATE {s}.jobs SET state = 'running', owner = a_owner, fence = fence + 1,
          until = t + a_ttl_ms * interval '1 ms', attempts = attempts + 1 WHERE id = j.id RETURNING * INTO j;
        INSERT INTO {s}.runs (job, fence, owner, began) VALUES (j.id, j.fence, a_owner, t);
        RETURN NEXT j;
        RETURN;
      END LOOP;
    END $$;
    CREATE FUNCTION {s}.finish(
      a_owner text, a_id bigint, a_fence bigint, a_outcome text, a_final boolean, a_error text, a_counts text)
    RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      j {s}.jobs;
      t timestamptz := clock_timestamp();
      is_over boolean;
    BEGIN
      SELECT * INTO j FROM {s}.jobs WHERE id = a_id AND owner = a_owner AND fence = a_fence AND state = 'running' FOR UPDATE;
      IF NOT FOUND THEN
        -- True again for a worker that did not get the answer.
        RETURN EXISTS (SELECT FROM {s}.runs WHERE job = a_id AND fence = a_fence AND owner = a_owner AND outcome = a_outcome);
      END IF;
      is_over := a_outcome = 'done' OR (a_outcome = 'failed' AND (a_final OR j.attempts >= j.max_attempts));
      UPDATE {s}.jobs SET
        state = CASE WHEN NOT is_over OR every_ms IS NOT NULL THEN 'ready' ELSE a_outcome END,
        due = CASE
          WHEN is_over THEN CASE WHEN every_ms IS NULL THEN due ELSE {s}.next_due(coalesce(regular, due), every_ms, t) END
          WHEN a_outcome = 'released' THEN least(due, t)
          WHEN a_outcome = 'postponed' THEN t + 5 * (0.75 + random() / 2) * interval '1 s'
          -- 10 s, 20 s, 40 s ... 1 h, each by up to a quarter more or less, so that hosts do not come back together.
          ELSE t + least(3600, 5 * 2 ^ least(attempts, 10)) * (0.75 + random() / 2) * interval '1 s' END,
        regular = CASE WHEN is_over THEN NULL ELSE coalesce(regular, due) END,
        attempts = CASE WHEN a_outcome IN ('released', 'postponed') THEN greatest(0, attempts - 1)
          WHEN a_outcome = 'done' OR (is_over AND every_ms IS NOT NULL) THEN 0 ELSE attempts END,
        error = CASE WHEN a_outcome = 'postponed' THEN error ELSE a_error END, owner = NULL, until = NULL WHERE id = a_id;
      UPDATE {s}.runs SET ended = t, outcome = a_outcome, error = a_error, counts = a_counts WHERE job = a_id AND fence = a_fence;
      DELETE FROM {s}.runs WHERE job = a_id AND fence <= a_fence - 200;
      RETURN true;
    END $$;

    """

  /// `reserve` grants up to `a_calls` calls of the current span, and never more than the cap allows.
  private static let budgetFunctions = """
    CREATE FUNCTION {s}.reserve(
      a_org text, a_span_ms bigint, a_cap bigint, a_calls bigint, OUT granted bigint, OUT starts_ms bigint, OUT ends_in_ms bigint)
    LANGUAGE plpgsql AS $$
    DECLARE
      now_ms bigint := extract(epoch FROM clock_timestamp()) * 1000;
      b {s}.budgets;
      first timestamptz;
    BEGIN
      starts_ms := now_ms - now_ms % a_span_ms;
      ends_in_ms := starts_ms + a_span_ms - now_ms;
      first := timestamptz 'epoch' + starts_ms * interval '1 ms';
      INSERT INTO {s}.budgets (org, span_ms, starts) VALUES (a_org, a_span_ms, first) ON CONFLICT DO NOTHING;
      IF FOUND THEN
        DELETE FROM {s}.budgets WHERE org = a_org AND span_ms = a_span_ms AND starts < first - 7 * a_span_ms * interval '1 ms';
      END IF;
      SELECT * INTO b FROM {s}.budgets WHERE org = a_org AND span_ms = a_span_ms AND starts = first FOR UPDATE;
      granted := greatest(0, least(a_calls, a_cap - b.used - b.others));
      IF granted > 0 THEN
        UPDATE {s}.budgets SET used = used + granted WHERE org = a_org AND span_ms = a_span_ms AND starts = first;
      END IF;
    END $$;
    CREATE FUNCTION {s}.correct(a_org text, a_span_ms bigint, a_starts_ms bigint, a_seen bigint) RETURNS void
    LANGUAGE sql AS $$
      UPDATE {s}.budgets SET others = greatest(0, a_seen - used) WHERE org = a_org AND span_ms = a_span_ms
        AND starts = timestamptz 'epoch' + a_starts_ms * interval '1 ms' AND others <> greatest(0, a_seen - used) $$;
    CREATE FUNCTION {s}.give_back(a_org text, a_span_ms bigint, a_starts_ms bigint, a_calls bigint) RETURNS void
    LANGUAGE sql AS $$
      UPDATE {s}.budgets SET used = greatest(0, used - a_calls) WHERE org = a_org AND span_ms = a_span_ms
        AND starts = timestamptz 'epoch' + a_starts_ms * interval '1 ms' $$;
    """
}
