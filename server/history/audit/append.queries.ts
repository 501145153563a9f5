import type { Role } from '#shared/permissions.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { ChainedEntry } from './entry.ts'

/** SQL of adding entries. */

export type Head = { readonly org_id: string; readonly seq: number; readonly hash: Buffer; readonly mac: Buffer }

/** With the number of the chain's newest entry in the log: null without entries. */
export type LockedHead = Head & { readonly newest_seq: number | null }

/**
 * The heads of chains, locked until the transaction ends; for a missing head, the head of an empty chain. One statement
 * locks them in order of the organisation, so that transactions with several organisations wait for each other in one
 * direction.
 */
export async function lockHeads(tx: Tx, empty: readonly Head[]): Promise<LockedHead[]> {
  const { rows } = await tx.query<LockedHead>({
    name: 'audit-lock-heads',
    text: `insert into audit_heads as h (org_id, seq, hash, mac)
           select org_id, 0, decode(hash, 'hex'), decode(mac, 'hex')
           from unnest($1::uuid[], $2::text[], $3::text[]) k (org_id, hash, mac) order by org_id
           on conflict (org_id) do update set seq = h.seq
           returning org_id, seq, hash, mac,
             greatest((select max(l.seq) from audit_log l where l.org_id = h.org_id),
                      (select c.seq from audit_checkpoints c where c.org_id = h.org_id)) as newest_seq`,
    values: [
      empty.map((head) => head.org_id),
      empty.map((head) => head.hash.toString('hex')),
      empty.map((head) => head.mac.toString('hex')),
    ],
  })
  return rows
}

/** Hash of the newest place of a chain by its entries and its checkpoint; null when it has neither. */
export async function selectNewest(tx: Tx, orgId: string): Promise<{ seq: number; hash: Buffer } | null> {
  const { rows } = await tx.query<{ seq: number; hash: Buffer }>(
    `(select seq, hash from audit_log where org_id = $1 order by seq desc limit 1)
     union all
     select seq, hash from audit_checkpoints where org_id = $1
     order by seq desc limit 1`,
    [orgId],
  )
  return rows[0] ?? null
}

/** Adds entries and moves the heads, which the caller has locked. */
export async function insertEntries(tx: Tx, entries: readonly ChainedEntry[], heads: readonly Head[]): Promise<void> {
  await tx.query({
    name: 'audit-insert',
    text: `with added as (
             insert into audit_log (org_id, seq, id, created_at, action, event_type, actor_type, actor_id, actor_email,
               actor_role, target_type, target_id, target_label, project_id, ip, user_agent, request_id, session_id,
               outcome, meta, prev_hash, hash, mac)
             select org_id, seq, id, created_at, action, event_type, actor_type, actor_id, actor_email,
               actor_role, target_type, target_id, target_label, project_id, ip, user_agent, request_id, session_id,
               outcome, meta, decode(prev_hash, 'hex'), decode(hash, 'hex'), decode(mac, 'hex')
             from json_to_recordset($1::json) e (org_id uuid, seq bigint, id uuid, created_at timestamptz, action text,
               event_type text, actor_type text, actor_id text, actor_email text, actor_role text, target_type text,
               target_id text, target_label text, project_id uuid, ip text, user_agent text, request_id text,
               session_id uuid, outcome text, meta text, prev_hash text, hash text, mac text)
           )
           update audit_heads h set seq = k.seq, hash = decode(k.hash, 'hex'), mac = decode(k.mac, 'hex')
           from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[]) k (org_id, seq, hash, mac) where h.org_id = k.org_id`,
    values: [
      JSON.stringify(
        entries.map((entry) => ({
          ...entry,
          prev_hash: entry.prev_hash.toString('hex'),
          hash: entry.hash.toString('hex'),
          mac: entry.mac.toString('hex'),
        })),
      ),
      heads.map((head) => head.org_id),
      heads.map((head) => head.seq),
      heads.map((head) => head.hash.toString('hex')),
      heads.map((head) => head.mac.toString('hex')),
    ],
  })
}

/** Ids of what entries name, by kind. */
export type Named = {
  readonly user: readonly string[]
  readonly issue: readonly string[]
  readonly project: readonly string[]
  readonly release: readonly string[]
  readonly org: readonly string[]
  readonly endpoint: readonly string[]
}

export type Label = { readonly kind: keyof Named; readonly id: string; readonly label: string }

/** Names by which members know things: e-mail, short id, name, version, address. */
export async function selectLabels(db: Connection, named: Named): Promise<Label[]> {
  const { rows } = await db.query<Label>({
    name: 'audit-labels',
    text: `select 'user' as kind, id, email as label from users where id = any($1::uuid[])
           union all
           select 'issue', i.id, upper(p.slug) || '-' || i.number
           from issues i join projects p on p.id = i.project_id where i.id = any($2::uuid[])
           union all
           select 'project', id, name from projects where id = any($3::uuid[])
           union all
           select 'release', id, version from releases where id = any($4::uuid[])
           union all
           select 'org', id, name from orgs where id = any($5::uuid[])
           union all
           select 'endpoint', id, url from webhook_endpoints where id = any($6::uuid[])`,
    values: [named.user, named.issue, named.project, named.release, named.org, named.endpoint],
  })
  return rows
}

/** Roles of a user in those of the organisations of which it is an active member. */
export async function selectRoles(
  db: Connection,
  userId: string,
  orgIds: readonly string[],
): Promise<{ org_id: string; role: Role }[]> {
  const { rows } = await db.query<{ org_id: string; role: Role }>(
    'select org_id, role from memberships where user_id = $1 and org_id = any($2::uuid[]) and disabled_at is null',
    [userId, orgIds],
  )
  return rows
}

export async function selectEmails(
  db: Connection,
  userIds: readonly string[],
): Promise<{ id: string; email: string }[]> {
  const { rows } = await db.query<{ id: string; email: string }>(
    'select id, email from users where id = any($1::uuid[])',
    [userIds],
  )
  return rows
}

/** The organisations in which users are members, also disabled ones. */
export async function selectUserOrgs(
  db: Connection,
  userIds: readonly string[],
): Promise<{ user_id: string; org_id: string }[]> {
  const { rows } = await db.query<{ user_id: string; org_id: string }>(
    'select user_id, org_id from memberships where user_id = any($1::uuid[])',
    [userIds],
  )
  return rows
}
