import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, timeInput } from '../../platform/kernel/page.api.ts'
import { ROLES } from '#shared/permissions.ts'

/** The audit log: who did what, when, from where, with which outcome. */

export const ACTOR_TYPES = ['user', 'api_key', 'system', 'integration'] as const
export const OUTCOMES = ['ok', 'denied', 'failed'] as const

const Hash = z.string().regex(/^[0-9a-f]{64}$/)

export const AuditEntry = z.object({
  id: Id,
  seq: z.number().int().describe("Place in the organisation's chain: 1, 2, 3 … without gaps."),
  org_id: Id,
  created_at: z.iso.datetime().describe('UTC, with microseconds.'),
  action: z.string().describe('What happened, such as issue.status_changed.'),
  event_type: z.string().nullable().describe('The type of its webhook event; null when it has none.'),
  actor: z
    .object({
      type: z.enum(ACTOR_TYPES),
      id: z
        .string()
        .nullable()
        .describe('Of the user, API key or integration; for the system, its work. Null for a caller who is not known.'),
      email: z
        .string()
        .nullable()
        .describe('At the time of the entry; null for integrations, for the system and for a caller who is not known.'),
      role: z.enum(ROLES).nullable(),
    })
    .describe('Who did it.'),
  target: z
    .object({
      type: z.string().nullable(),
      id: z.string().nullable(),
      label: z
        .string()
        .nullable()
        .describe('What it was called: short id, name, version, email address, address; null when it has no name.'),
    })
    .describe('What it was done to.'),
  project_id: Id.nullable(),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  request_id: z.string().nullable(),
  session_id: Id.nullable(),
  outcome: z.enum(OUTCOMES),
  meta: z.record(z.string(), z.unknown()).describe('Details of the action, at most 4 KiB; never a secret.'),
  prev_hash: Hash.describe('Hash of the entry before; 64 zeros before the first.'),
  hash: Hash.describe('SHA-256 of prev_hash and of the canonical JSON of this entry without hash.'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditVerification = z.object({
  ok: z.boolean(),
  entries: z.number().int().describe('Entries that verified.'),
  first_seq: z.number().int().nullable().describe('Of the verified entries; null without any.'),
  last_seq: z.number().int().nullable(),
  first_bad_seq: z
    .number()
    .int()
    .nullable()
    .describe('The first place whose entry is missing, was changed or does not belong there; null when there is none.'),
  reason: z.string().nullable(),
  head: z
    .object({
      org_id: Id,
      seq: z.number().int(),
      hash: Hash,
      created_at: z.iso.datetime(),
      key_id: z.string(),
      signature: z.string().describe('Ed25519, base64url; docs/audit-log.md says of what.'),
    })
    .nullable()
    .describe('The verified end of the log, signed now; null for a broken or empty one.'),
  checked_heads: z.number().int().describe('Signed heads of the past that agree with the log.'),
  warnings: z
    .array(z.string())
    .describe(
      'What could not be compared: unreadable or missing files of signed heads. The log may be whole all the same.',
    ),
  key: z.object({ id: z.string(), public_key: z.string() }).describe('What signs heads: Ed25519, base64url.'),
})

const text = (name: string) =>
  z
    .string()
    .min(1, { error: `${name} must not be empty.` })
    .max(1_000, { error: `${name} must be at most 1,000 characters.` })

/** Filters of the list and the export. */
export const auditFilters = {
  action: text('action')
    .regex(/^[\w.]+\*?$|^\*$/, { error: 'action must be the name of an action, or its beginning and *.' })
    .optional()
    .describe('Action or event type: exactly, or its beginning with * at the end, such as signin.*'),
  actor: text('actor').optional().describe('Id or email address of who did it.'),
  target: text('target').optional().describe('Id or label of what it was done to.'),
  from: timeInput('from').optional().describe('Entries of this time and later.'),
  to: timeInput('to').optional().describe('Entries before this time.'),
}

export const auditRoutes = routes({
  listAuditLog: {
    method: 'GET',
    path: '/api/audit-log',
    tag: 'Audit log',
    summary: 'Entries of the audit log, newest first',
    description:
      'Entries are stored for 365 days. Those of refused requests are counted, and appear within about a minute.',
    permission: 'audit.read',
    query: z.strictObject({ ...pageQuery(50), ...auditFilters }),
    response: pageSchema(AuditEntry),
  },
  exportAuditLog: {
    method: 'GET',
    path: '/api/audit-log/export',
    tag: 'Audit log',
    summary: 'Download the audit log as NDJSON, highest seq first',
    description:
      'Each line is the canonical JSON (RFC 8785) of an entry, whose last field is its hash. The export is an entry itself.',
    permission: 'audit.read',
    query: z.strictObject(auditFilters),
    // It writes an entry.
    csrf: true,
    stream: 'file',
  },
  verifyAuditLog: {
    method: 'GET',
    path: '/api/audit-log/verify',
    tag: 'Audit log',
    summary: 'Verify that no entry of the audit log was changed, added or removed',
    description:
      'Reads the whole log: about half a minute per million entries. Compares it with the signed heads in the data directory of the process that answers.',
    permission: 'audit.verify',
    isSlow: true,
    response: AuditVerification,
  },
})
