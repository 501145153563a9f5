import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { SentFile } from '../../platform/context/handlers.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { canonicalEntry } from './entry.ts'
import { toAuditListing, type AuditFilters } from './list-audit-log.ts'
import { selectChainEntries } from './read.queries.ts'

const BATCH = 1_000

/**
 * The filtered log as NDJSON, highest `seq` first: each line is the canonical JSON that was hashed, with the hash behind it. Also
 * the export is an entry, and the first line of an export without filters.
 */
export async function exportAuditLog(app: App, actor: OrgActor, filters: AuditFilters): Promise<SentFile> {
  const listing = toAuditListing(actor.orgId, filters)
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, actor), [{ kind: 'audit.exported', orgId: actor.orgId, data: { ...filters } }]),
  )
  async function* lines(): AsyncGenerator<Buffer> {
    for (let before: number | null = null; ;) {
      const batch = await selectChainEntries(app.db, listing, { before, limit: BATCH })
      yield Buffer.from(batch.map((entry) => lineOf(canonicalEntry(entry), entry.hash)).join(''))
      before = batch.at(-1)?.seq ?? null
      if (batch.length < BATCH) return
    }
  }
  return {
    filename: `audit-log-${app.clock.now().toISOString().slice(0, 10)}.ndjson`,
    contentType: 'application/x-ndjson',
    sizeBytes: null,
    chunks: lines(),
  }
}

/** `hash` as the last field: without it, the line is what was hashed. */
const lineOf = (canonical: string, hash: Buffer): string =>
  `${canonical.slice(0, -1)},"hash":"${hash.toString('hex')}"}\n`
