import { z } from 'zod'
import { ROLES } from '#shared/permissions.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { KINDS } from '../facts/kinds.ts'
import { cutPage, readCursor, writeCursor } from '../../platform/kernel/cursor.ts'
import { TOTAL_CAP, type Page } from '../../platform/kernel/page.api.ts'
import type { AuditEntry } from './audit.api.ts'
import { DENIALS } from './denials.ts'
import type { ChainedEntry } from './entry.ts'
import { countEntries, selectEntries, type Listing, type Place } from './read.queries.ts'

export type AuditFilters = {
  readonly action?: string | undefined
  readonly actor?: string | undefined
  readonly target?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

type ListInput = AuditFilters & {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

/**
 * Entries of the audit log, newest first. A cursor names time and number of the last entry of the page.
 * @throws AppError invalid for a cursor of another list
 */
export async function listAuditLog(app: App, actor: OrgActor, input: ListInput): Promise<Page<AuditEntry>> {
  const listing = toAuditListing(actor.orgId, input)
  const after = input.cursor === undefined ? null : placeAfter(input.cursor)
  const offset = after === null ? input.offset : 0
  const [rows, total] = await Promise.all([
    selectEntries(app.db, listing, { after, limit: input.limit + 1, offset }),
    countEntries(app.db, listing, TOTAL_CAP + 1),
  ])
  const { shown, figures } = cutPage(rows, { limit: input.limit, offset, total }, (last) =>
    writeCursor(last.created_at, last.seq),
  )
  return {
    items: shown.map(viewEntry),
    ...figures,
  }
}

export const toAuditListing = (orgId: string, filters: AuditFilters): Listing => ({
  orgId,
  actions: filters.action === undefined || filters.action === '*' ? null : actionsMatching(filters.action),
  actor: filters.actor ?? null,
  target: filters.target ?? null,
  from: filters.from ?? null,
  to: filters.to ?? null,
})

/** Every action with its event type. */
const ACTIONS: ReadonlyMap<string, string | null> = new Map([
  ...Object.values(KINDS).flatMap((kind): [string, string | null][] =>
    'audit' in kind ? [[kind.audit, 'webhook' in kind ? kind.webhook : null]] : [],
  ),
  ...DENIALS.map((action): [string, null] => [action, null]),
])

/** The filter names an action or an event type: exactly, or its beginning with `*`. */
function actionsMatching(filter: string): string[] {
  const prefix = filter.endsWith('*') ? filter.slice(0, -1) : null
  const matches = (name: string | null): boolean =>
    name !== null && (prefix === null ? name === filter : name.startsWith(prefix))
  const known = [...ACTIONS].flatMap(([action, type]) => (matches(action) || matches(type) ? [action] : []))
  // An older release may have written an action that this one does not know.
  return prefix === null ? [...new Set([filter, ...known])] : known
}

const RoleName = z.enum(ROLES)
const Meta = z.record(z.string(), z.unknown())

function viewEntry(entry: ChainedEntry): AuditEntry {
  const { id, seq, org_id, created_at, action, event_type, project_id, outcome } = entry
  const { ip, user_agent, request_id, session_id } = entry
  const role = RoleName.safeParse(entry.actor_role)
  return {
    id,
    seq,
    org_id,
    created_at,
    action,
    event_type,
    actor: {
      type: entry.actor_type,
      id: entry.actor_id,
      email: entry.actor_email,
      role: role.success ? role.data : null,
    },
    target: { type: entry.target_type, id: entry.target_id, label: entry.target_label },
    project_id,
    ip,
    user_agent,
    request_id,
    session_id,
    outcome,
    meta: metaOf(entry.meta),
    prev_hash: entry.prev_hash.toString('hex'),
    hash: entry.hash.toString('hex'),
  }
}

/** A row that was changed in the database may hold anything; the list shows the rest. */
function metaOf(text: string): Record<string, unknown> {
  try {
    return Meta.parse(JSON.parse(text))
  } catch {
    return { unreadable: text.slice(0, 200) }
  }
}

const Cursor = z.tuple([z.iso.datetime(), z.number().int()])

function placeAfter(cursor: string): Place {
  const [created_at, seq] = readCursor(cursor, Cursor)
  return { created_at, seq }
}
