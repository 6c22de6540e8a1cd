/// The SQL of a store's schema: the tables that every store has besides those of its soups.
enum StoreTables {
  /// The i-th migration takes a store from version i to i + 1. `{s}` stands for the quoted name of its schema.
  static let migrations = [
    """
    -- Each writing transaction begins with an update of this row: one at a time writes to a store, and seq tells what a
    -- reader sees. soups rises when soups or their columns change; changes up to pruned have been removed.
    CREATE TABLE {s}.state (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), seq bigint NOT NULL DEFAULT 0,
      soups bigint NOT NULL DEFAULT 0, uploads bigint NOT NULL DEFAULT 0, pruned bigint NOT NULL DEFAULT 0)
      WITH (fillfactor = 50);
    INSERT INTO {s}.state DEFAULT VALUES;
    -- For unique texts of any length: an index row has at most about 2,700 bytes. The encoding is always UTF8.
    CREATE FUNCTION {s}.digest(a_text text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
      SELECT sha256(convert_to(a_text, 'UTF8')) $$;
    -- lastId: entry ids are given in order, and not again.
    CREATE TABLE {s}.soup_attrs (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, soupName text COLLATE "C" UNIQUE NOT NULL,
      lastId bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
    CREATE TABLE {s}.soup_index_map (
      soup bigint, position int, path text COLLATE "C" NOT NULL, columnType text NOT NULL, PRIMARY KEY (soup, position));
    CREATE TABLE {s}.soup_members (soup bigint, entry bigint, owner bigint, PRIMARY KEY (soup, entry, owner));
    CREATE TABLE {s}.soup_bases (soup bigint, entry bigint, base text NOT NULL, PRIMARY KEY (soup, entry));
    CREATE TABLE {s}.soup_conflicts (
      soup bigint, entry bigint, sync bigint NOT NULL, state text NOT NULL, server text, idField text NOT NULL,
      dateField text NOT NULL, detectedAt bigint NOT NULL, PRIMARY KEY (soup, entry));
    CREATE TABLE {s}.outbox (
      soup bigint, entry bigint, version bigint NOT NULL, sync bigint NOT NULL, operation text NOT NULL, sentAt bigint NOT NULL,
      inDoubt boolean NOT NULL DEFAULT false, fence bigint NOT NULL DEFAULT 0, clockOffset bigint, resendAt bigint, sent text,
      PRIMARY KEY (soup, entry));
    CREATE INDEX outbox_creates ON {s}.outbox (soup) WHERE operation = 'create';
    CREATE TABLE {s}.outbox_arrivals (soup bigint, entry bigint, PRIMARY KEY (soup, entry));
    CREATE TABLE {s}.assigned_ids (
      soup bigint NOT NULL, localId text COLLATE "C" NOT NULL, id text NOT NULL, arrivedAt bigint NOT NULL);
    CREATE UNIQUE INDEX assigned_ids_key ON {s}.assigned_ids (soup, {s}.digest(localId));
    CREATE TABLE {s}.sync_pages (sync bigint NOT NULL, page text COLLATE "C" NOT NULL, value text NOT NULL);
    CREATE UNIQUE INDEX sync_pages_key ON {s}.sync_pages (sync, {s}.digest(page));
    -- Keys as bytes: unlike a text, they may contain U+0000.
    CREATE TABLE {s}.keyvalue (store text COLLATE "C" NOT NULL, key bytea NOT NULL, value bytea NOT NULL);
    CREATE UNIQUE INDEX keyvalue_key ON {s}.keyvalue (store, sha256(key));
    CREATE TABLE {s}.leases (
      name text COLLATE "C" PRIMARY KEY, owner text NOT NULL, fence bigint NOT NULL, expires timestamptz NOT NULL)
      WITH (fillfactor = 50);
    -- A row for each transaction and soup, in the order of commits: seq is that of the store.
    CREATE TABLE {s}.changes (
      soup bigint, seq bigint, name text COLLATE "C" NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
      created bigint[], updated bigint[], removed bigint[], everything boolean NOT NULL DEFAULT false,
      PRIMARY KEY (seq, soup));
    -- The fence: extends a lease, or ends the transaction, and with it the rest of its flight.
    CREATE FUNCTION {s}.hold(a_name text, a_owner text, a_fence bigint, a_ttl_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE {s}.leases SET expires = greatest(expires, clock_timestamp() + a_ttl_ms * interval '1 ms')
        WHERE name = a_name AND owner = a_owner AND fence = a_fence;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'another owner has taken over ''%''', a_name USING ERRCODE = 'TU001';
      END IF;
    END $$;
    """ + pathFunctions,
    """
    -- loading: the process that loads many first entries, and the path that finds them. The indexes of other paths are missing.
    ALTER TABLE {s}.soup_attrs ADD COLUMN loading text;
    -- Drops indexes of an empty soup, unless it is being read: that would take the time of the longest query.
    CREATE FUNCTION {s}.begin_load(a_soup bigint, a_table text, a_indexes text[], a_mark text) RETURNS boolean
    LANGUAGE plpgsql AS $$
    DECLARE
      is_filled boolean;
      i text;
    BEGIN
      EXECUTE 'SELECT EXISTS (SELECT FROM {s}.' || a_table || ')' INTO is_filled;
      IF is_filled THEN RETURN false; END IF;
      EXECUTE 'LOCK TABLE {s}.' || a_table || ' IN ACCESS EXCLUSIVE MODE NOWAIT';
      FOREACH i IN ARRAY a_indexes LOOP EXECUTE 'DROP INDEX IF EXISTS {s}.' || i; END LOOP;
      UPDATE {s}.soup_attrs SET loading = a_mark WHERE id = a_soup;
      RETURN true;
    EXCEPTION WHEN lock_not_available THEN RETURN false;
    END $$;
    """,
    """
    CREATE TABLE {s}.uploads (
      soup bigint, entry bigint, version bigint NOT NULL, operation text NOT NULL, state text NOT NULL, sync bigint NOT NULL,
      fence bigint NOT NULL, sentAt bigint NOT NULL, clockOffset bigint, resendAt bigint, sent text, earlier text, entryText text,
      PRIMARY KEY (soup, entry));
    CREATE INDEX uploads_creates ON {s}.uploads (soup) WHERE operation = 'create';
    -- Up to version 2, a create that may be repeated with its key was stored as a customCreate with a text.
    INSERT INTO {s}.uploads
      SELECT soup, entry, version, CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'create' ELSE operation END,
        CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'repeatable' WHEN inDoubt THEN 'inDoubt' ELSE 'sent' END,
        sync, fence, sentAt, clockOffset, resendAt, sent
      FROM {s}.outbox WHERE operation <> 'echo';
    CREATE TABLE {s}.uploaded (
      soup bigint, entry bigint, version bigint NOT NULL, sequence bigint NOT NULL, stamp bigint, sent text, deletedId text,
      PRIMARY KEY (soup, entry));
    INSERT INTO {s}.uploaded SELECT soup, entry, version, fence, resendAt, NULL, sent FROM {s}.outbox WHERE operation = 'echo';
    DROP TABLE {s}.outbox;
    ALTER TABLE {s}.outbox_arrivals RENAME TO arrivals;
    CREATE TABLE {s}.soup_creators (soup bigint, entry bigint, sync bigint NOT NULL, PRIMARY KEY (soup, entry));
    INSERT INTO {s}.soup_creators SELECT soup, entry, -owner FROM {s}.soup_members WHERE owner < 0 ON CONFLICT DO NOTHING;
    DELETE FROM {s}.soup_members WHERE owner < 0;
    -- The owner of a bulk load is one connection of the process.
    UPDATE {s}.soup_attrs SET loading = regexp_replace(loading, ' ', ' - ') WHERE loading IS NOT NULL;
    """,
    """
    CREATE TABLE {s}.actors (
      id bigint PRIMARY KEY, kind text NOT NULL, name text, host text NOT NULL, uid bigint, version text NOT NULL);
    CREATE TABLE {s}.sync_runs (
      id bigint PRIMARY KEY, sync bigint NOT NULL, name text COLLATE "C", kind text NOT NULL, status text NOT NULL, pid bigint,
      actor bigint NOT NULL, job text, startedAt bigint NOT NULL, endedAt bigint, state text, plan text COLLATE "C");
    -- A plan is applied once.
    CREATE UNIQUE INDEX sync_runs_plan ON {s}.sync_runs (plan) WHERE plan IS NOT NULL;
    CREATE TABLE {s}.run_events (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run bigint NOT NULL, at bigint NOT NULL, kind text NOT NULL,
      soup bigint, rows bigint, bytes bigint, server text, method text, path text, status bigint, attempt bigint,
      ms bigint, error text);
    CREATE TABLE {s}.entry_log (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, run bigint, actor bigint NOT NULL,
      soup bigint NOT NULL, entry bigint NOT NULL, version bigint NOT NULL, cause text NOT NULL, reason text, fields text,
      recordId text COLLATE "C", before text, sent text);
    -- id: of this store alone, not of its copies. runs: the number of the last run.
    ALTER TABLE {s}.state ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(), ADD COLUMN runs bigint NOT NULL DEFAULT 0;
    -- Runs a statement of the history. A failure of it is returned, and does not end the transaction.
    CREATE FUNCTION {s}.attempt(
      a_statement text, a1 bigint[] DEFAULT NULL, a2 bigint[] DEFAULT NULL, a3 bigint[] DEFAULT NULL, a4 bigint[] DEFAULT NULL,
      a5 bigint[] DEFAULT NULL, a6 bigint[] DEFAULT NULL, a7 bigint[] DEFAULT NULL, a8 bigint[] DEFAULT NULL,
      t1 text[] DEFAULT NULL, t2 text[] DEFAULT NULL, t3 text[] DEFAULT NULL, t4 text[] DEFAULT NULL, t5 text[] DEFAULT NULL,
      t6 text[] DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE a_statement USING a1, a2, a3, a4, a5, a6, a7, a8, t1, t2, t3, t4, t5, t6;
      RETURN NULL;
    EXCEPTION WHEN OTHERS THEN RETURN SQLERRM;
    END $$;
    """,
  ]

  /// The values at paths that have no column. `at` follows a path as SQLite's json_extract does: `.key` into an object,
  /// `[n]` into an array. `val` returns the value with its class as the first letter: i, r or t for integer, real or
  /// text. `txt` is any value as text, reals in SQLite's form, and `sort_key` the form of ``SortKey``. `str` is the text of
  /// a string and `int` a whole number: they refuse values of another class, which would mean something else.
  private static let pathFunctions = """
    CREATE FUNCTION {s}.at(a_soup text, a_path text[]) RETURNS json LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      v json;
      step text;
    BEGIN
      -- A text cannot contain the character U+0000, and PostgreSQL looks at all escapes.
      IF position('\\u0000' IN a_soup) > 0 THEN
        a_soup := regexp_replace(a_soup, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g');
      END IF;
      v := a_soup::json;
      FOREACH step IN ARRAY a_path LOOP
        IF left(step, 1) = '.' THEN
          IF json_typeof(v) <> 'object' THEN RETURN NULL; END IF;
          v := v -> substr(step, 2);
        ELSE
          IF json_typeof(v) <> 'array' THEN RETURN NULL; END IF;
          v := v -> substr(step, 2)::int;
        END IF;
        IF v IS NULL THEN RETURN NULL; END IF;
      END LOOP;
      RETURN v;
    END $$;
    CREATE FUNCTION {s}.val(a_soup text, a_path text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      v json := {s}.at(a_soup, a_path);
      t text := v::text;
      n numeric;
    BEGIN
      CASE coalesce(json_typeof(v), 'null')
        WHEN 'null' THEN RETURN NULL;
        WHEN 'boolean' THEN RETURN CASE WHEN btrim(t, E' \\t\\r\\n') = 'true' THEN 'i1' ELSE 'i0' END;
        WHEN 'number' THEN
          t := v #>> '{}';
          IF t ~ '[.eE]' THEN RETURN 'r' || t; END IF;
          n := t::numeric;
          RETURN CASE WHEN n BETWEEN -9223372036854775808 AND 9223372036854775807 THEN 'i' ELSE 'r' END || t;
        WHEN 'string' THEN RETURN 't' || (v #>> '{}');
        ELSE RETURN 't' || regexp_replace(t, '("(?:[^"\\\\]|\\\\.)*")|\\s+', '\\1', 'g');
      END CASE;
    END $$;
    CREATE FUNCTION {s}.sort_key(a_soup text, a_path text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      t text := {s}.val(a_soup, a_path);
      is_integer boolean := left(t, 1) = 'i';
      n numeric;
      x double precision;
      i bigint;
      b bigint;
      rest bigint := 0;
    BEGIN
      IF t IS NULL THEN RETURN NULL; END IF;
      IF left(t, 1) = 't' THEN RETURN 'T' || substr(t, 2); END IF;
      t := substr(t, 2);
      n := CASE WHEN t ~ '[eE][+]?[0-9]{4}' THEN 1e400 WHEN t ~ '[eE]-[0-9]{4}' THEN 0 ELSE t::numeric END;
      x := CASE WHEN n = 0 OR abs(n) < 3e-324 THEN 0
        WHEN abs(n) < 1.797693134862315808e308 THEN n::double precision + 0
        WHEN left(t, 1) = '-' THEN '-Infinity' ELSE 'Infinity' END;
      IF is_integer THEN
        i := t::bigint;
        rest := CASE WHEN x >= 9223372036854775808 THEN (i - 9223372036854775807) - 1 ELSE i - x::bigint END;
      END IF;
      b := ('x' || encode(float8send(x), 'hex'))::bit(64)::bigint;
      IF b < 0 THEN b := b # 9223372036854775807; END IF;
      b := b # (-9223372036854775807 - 1);
      RETURN 'N' || lpad(to_hex(b), 16, '0') || lpad(to_hex(rest + 2048), 3, '0');
    END $$;
    CREATE FUNCTION {s}.real_text(x double precision) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      scientific text := btrim(to_char(x, '9.99999999999999EEEE'));
      digits text := rtrim(rtrim(split_part(scientific, 'e', 1), '0'), '.');
      e int;
      t text;
    BEGIN
      IF x = 0 OR position('e' IN scientific) = 0 THEN RETURN CASE WHEN x = 0 THEN '0.0' ELSE x::text END; END IF;
      e := split_part(scientific, 'e', 2)::int;
      IF e BETWEEN -4 AND 14 THEN
        t := round(x::text::numeric, 14 - e)::text;
        IF position('.' IN t) > 0 THEN t := rtrim(rtrim(t, '0'), '.'); END IF;
        RETURN CASE WHEN position('.' IN t) > 0 THEN t ELSE t || '.0' END;
      END IF;
      RETURN CASE WHEN position('.' IN digits) > 0 THEN digits ELSE digits || '.0' END || 'e'
        || CASE WHEN e < 0 THEN '-' ELSE '+' END || lpad(abs(e)::text, greatest(2, length(abs(e)::text)), '0');
    END $$;
    CREATE FUNCTION {s}.txt(a_soup text, a_path text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      t text := {s}.val(a_soup, a_path);
    BEGIN
      IF left(t, 1) <> 'r' OR t ~ '[eE][+-]?[0-9]{4}' THEN RETURN substr(t, 2); END IF;
      IF abs(substr(t, 2)::numeric) > 1.7976931348623157e308 THEN
        RETURN CASE WHEN t LIKE 'r-%' THEN '-Inf' ELSE 'Inf' END;
      END IF;
      RETURN {s}.real_text(substr(t, 2)::numeric::double precision);
    END $$;
    CREATE FUNCTION {s}.int(a_soup text, a_path text[]) RETURNS bigint LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      t text := {s}.val(a_soup, a_path);
    BEGIN
      IF left(t, 1) <> 'i' THEN
        RAISE EXCEPTION 'a value at % is not a whole number', array_to_string(a_path, '') USING ERRCODE = 'TU010';
      END IF;
      RETURN substr(t, 2)::bigint;
    END $$;
    CREATE FUNCTION {s}.str(a_soup text, a_path text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      v json := {s}.at(a_soup, a_path);
      t text;
    BEGIN
      IF coalesce(json_typeof(v), 'null') = 'null' THEN RETURN NULL; END IF;
      t := {s}.val(a_soup, a_path);
      IF json_typeof(v) <> 'string' THEN
        RAISE EXCEPTION 'a value at % is not a string', array_to_string(a_path, '') USING ERRCODE = 'TU010';
      END IF;
      RETURN substr(t, 2);
    END $$;
    """
}
