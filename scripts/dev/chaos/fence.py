"""Switches the fences off, to show that the checks notice it. Only for a database of the tests' own."""

import re

FENCED = re.compile(rb"AND owner = \$(\d) AND fence = \$(\d)")


def without_fence(data):
    """Statements of a lease in which any owner and fence will do. Their length stays, which the protocol has sent before."""
    return FENCED.sub(lambda found: b"AND $%s<>''%sAND $%s<>-1%s" % (
        found[1], b" " * 5, found[2], b" " * 4), data)


def switch_off(cluster):
    """Nobody is refused a lease, and no transaction is refused for want of one or because a newer connection exists."""
    for (schema,) in cluster.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^tureen_[0-9]+$'"):
        cluster.query(f"""
            CREATE OR REPLACE FUNCTION {schema}.hold(a_name text, a_owner text, a_fence bigint, a_ttl_ms bigint) RETURNS void
              LANGUAGE sql AS $$ SELECT $$;
            CREATE FUNCTION {schema}.never_held() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN NEW.expires := 'epoch'; RETURN NEW; END $$;
            CREATE TRIGGER never_held BEFORE INSERT OR UPDATE ON {schema}.leases FOR EACH ROW
              EXECUTE FUNCTION {schema}.never_held();
            UPDATE {schema}.leases SET expires = 'epoch'""")
    cluster.query("""
        CREATE OR REPLACE FUNCTION tureen.step(a_id text, a_epoch bigint, a_seq bigint) RETURNS void LANGUAGE sql AS
          $$ UPDATE tureen.writers SET seq = a_seq, seen = clock_timestamp() WHERE id = a_id $$""")
