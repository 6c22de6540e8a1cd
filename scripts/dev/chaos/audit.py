"""Records which process wrote the state of a sync, and which one held its lease then. Only for a database of the tests' own."""

PROCESS = "split_part({}, '/', 1)"


def install(cluster, soup_number):
    """Triggers that see each change of a lease and each state that a sync saves, in the same transaction.

    A sync saves its state together with each page.
    """
    cluster.query(f"""
        CREATE SCHEMA audit;
        CREATE TABLE audit.holders (lease text PRIMARY KEY, fence bigint NOT NULL, process text NOT NULL);
        CREATE TABLE audit.states (
          number bigint GENERATED ALWAYS AS IDENTITY, sync text, writer text, holder text, fence bigint, status text);
        CREATE TABLE audit.leases (number bigint GENERATED ALWAYS AS IDENTITY, name text, fence bigint);

        -- Each writing transaction begins with the writer's row.
        CREATE FUNCTION audit.writer() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN PERFORM set_config('audit.writer', {PROCESS.format('NEW.id')}, true); RETURN NULL; END $$;
        CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tureen.writers FOR EACH ROW EXECUTE FUNCTION audit.writer();

        CREATE FUNCTION audit.lease() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          IF NEW.owner <> '' THEN
            INSERT INTO audit.holders VALUES (NEW.name, NEW.fence, {PROCESS.format('NEW.owner')})
              ON CONFLICT (lease) DO UPDATE SET fence = excluded.fence, process = excluded.process;
          END IF;
          IF TG_OP = 'INSERT' OR NEW.fence <> OLD.fence THEN
            INSERT INTO audit.leases (name, fence) VALUES (NEW.name, NEW.fence);
          END IF;
          RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER INSERT OR UPDATE ON tureen_1.leases FOR EACH ROW EXECUTE FUNCTION audit.lease();

        CREATE FUNCTION audit.state() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          INSERT INTO audit.states (sync, writer, holder, fence, status)
            SELECT NEW.id, current_setting('audit.writer', true), h.process, h.fence, NEW.soup::json ->> 'status'
            FROM audit.holders h WHERE h.lease = 'sync:' || NEW.id;
          RETURN NULL;
        END $$;
        CREATE TRIGGER audit AFTER UPDATE ON tureen_1.table_{soup_number} FOR EACH ROW EXECUTE FUNCTION audit.state()""")


def states(cluster):
    """The states that were saved: sync, writer, holder of the lease, fence, status."""
    return [tuple(row) for row in cluster.query(
        "SELECT sync, coalesce(writer, ''), holder, fence, coalesce(status, '') FROM audit.states ORDER BY number")]


def fences(cluster):
    """The fences of each lease in the order in which they were given."""
    found = {}
    for name, fence in cluster.query("SELECT name, fence FROM audit.leases ORDER BY number"):
        found.setdefault(name, []).append(int(fence))
    return found
