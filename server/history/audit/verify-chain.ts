import type { OrgActor } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import { entryMac, headMac } from './add-entries.ts'
import { hashEntry, NO_HASH, type ChainedEntry } from './entry.ts'
import { headText, readSignedHeads, signHead, type SignedHead, type SignedHeads } from './signed-heads.ts'
import { entriesAfter, selectCheckpoint, selectHead, type Checkpoint } from './verify.queries.ts'

/** What {@link verifyChain} found. */
export type Verification = {
  readonly ok: boolean
  /** Entries that verified. */
  readonly entries: number
  /** The first of the verified entries; null without any. */
  readonly first_seq: number | null
  readonly last_seq: number | null
  /** The first place whose entry is missing, was changed or does not belong there. */
  readonly first_bad_seq: number | null
  readonly reason: string | null
  /** The verified end of the chain, signed now; null for a broken or empty chain. */
  readonly head: SignedHead | null
  /** Signed heads of the past that were compared. */
  readonly checked_heads: number
  /** Entries that were not compared although they should exist. */
  readonly warnings: string[]
}

/** The parts of an App that verification reads. */
export type Verifier = Pick<App, 'db' | 'auditKey' | 'clock' | 'config'>

const BATCH = 1_000

type Options = {
  /** Signed heads of this organisation and others; read from the files by default. */
  readonly heads?: SignedHeads
  readonly signal?: AbortSignal
  /** Called after each batch with the number of verified entries. */
  readonly onProgress?: (entries: number) => void
}

const running = perApp(() => new Map<string, Promise<Verification>>())

export type VerifiedLog = Verification & { readonly key: { readonly id: string; readonly public_key: string } }

/** Verifies the log of the caller's organisation. Calls that overlap share one run. */
export async function verifyAuditLog(app: App, { orgId }: OrgActor): Promise<VerifiedLog> {
  const known = running(app).get(orgId)
  const run = known ?? verifyChain(app, orgId).finally(() => running(app).delete(orgId))
  running(app).set(orgId, run)
  const { id, publicKey } = app.auditKey
  return { ...(await run), key: { id, public_key: publicKey } }
}

/**
 * Verifies the chain of an organisation from its checkpoint, or from its first entry, to its end: every hash and HMAC, the
 * order without gaps, the stored head, and the signed heads outside the database. Reads the log in batches; entries that
 * are added meanwhile are verified too.
 */
export async function verifyChain(app: Verifier, orgId: string, options: Options = {}): Promise<Verification> {
  const checkpoint = await selectCheckpoint(app.db, orgId)
  const heads = options.heads ?? (await readSignedHeads(app, (id) => id === orgId))
  const found = await walk(app, orgId, checkpoint, heads, options)
  if (found.ok) return found
  // The purge may have deleted entries that the walk was about to read.
  const now = await selectCheckpoint(app.db, orgId)
  return now?.seq === checkpoint?.seq ? found : verifyChain(app, orgId, options)
}

type Bad = { readonly seq: number; readonly reason: string }

async function walk(
  app: Verifier,
  orgId: string,
  checkpoint: Checkpoint | null,
  { ofOrgs, unreadable }: SignedHeads,
  { signal, onProgress }: Options,
): Promise<Verification> {
  let at = { seq: checkpoint?.seq ?? 0, hash: checkpoint?.hash ?? NO_HASH }
  let firstSeq: number | null = null
  let entries = 0
  let checkedHeads = 0
  const signed = ofOrgs.get(orgId) ?? []
  const warnings: string[] = []
  if (unreadable > 0)
    warnings.push(`${unreadable} ${unreadable === 1 ? 'line' : 'lines'} of the files of signed heads cannot be read.`)
  if (signed.length === 0 && (await selectHead(app.db, orgId))?.is_signed === true)
    warnings.push(
      'Heads of this log were signed, but none of them is in this data directory: whether its newest entries were removed is not known. Verify where the files of audit-heads are.',
    )
  const result = (bad: Bad | null): Verification => ({
    ok: bad === null,
    entries,
    first_seq: firstSeq,
    last_seq: firstSeq === null ? null : at.seq,
    first_bad_seq: bad?.seq ?? null,
    reason: bad?.reason ?? null,
    head: bad !== null || at.seq === 0 ? null : signHead(app.auditKey, { org_id: orgId, ...at }, app.clock.now()),
    checked_heads: checkedHeads,
    warnings,
  })
  if (checkpoint !== null && !isSigned(app, checkpoint))
    return result({
      seq: checkpoint.seq,
      reason: 'The checkpoint of the retention was changed: its signature is wrong.',
    })

  let next = 0
  let confirmed = at.seq
  /** Compares the signed heads up to the place of the walk. */
  const compareHeads = (isEnd: boolean): Bad | null => {
    for (let head = signed[next]; head !== undefined; head = signed[++next]) {
      if (head.seq > at.seq) {
        if (!isEnd) return null
        return {
          seq: at.seq + 1,
          reason: `Entries are missing: a head of ${head.created_at} was signed at seq ${head.seq}.`,
        }
      }
      if (head.key_id !== app.auditKey.id || !app.auditKey.verify(headText('head', head), bytesOf(head)))
        return {
          seq: head.seq,
          reason: `The file of signed heads was changed: the signature at seq ${head.seq} is wrong.`,
        }
      if (head.seq < at.seq || (head.seq === 0 && at.seq === 0)) continue
      checkedHeads++
      if (head.hash !== at.hash.toString('hex'))
        return {
          seq: Math.min(confirmed + 1, head.seq),
          reason: `Another entry had seq ${head.seq} when a head was signed at ${head.created_at}: the log was replaced.`,
        }
      confirmed = head.seq
    }
    return null
  }
  for (;;) {
    signal?.throwIfAborted()
    const batch = await entriesAfter(app.db, orgId, at.seq, BATCH)
    for (const entry of batch) {
      firstSeq ??= entry.seq
      const wrong = wrongIn(app, entry, at)
      if (wrong !== null) return result(wrong)
      at = { seq: entry.seq, hash: entry.hash }
      entries++
      const behind = compareHeads(false)
      if (behind !== null) return result(behind)
    }
    onProgress?.(entries)
    if (batch.length === BATCH) continue
    // Read after the entries: it can only be newer than they are.
    const head = await selectHead(app.db, orgId)
    if (head !== null && head.seq > at.seq) {
      // Entries of a transaction that was committed meanwhile; otherwise they are missing.
      if ((await entriesAfter(app.db, orgId, at.seq, 1)).length > 0) continue
      return result({ seq: at.seq + 1, reason: `Entries are missing: the stored head has seq ${head.seq}.` })
    }
    const bad = headProblem(app, orgId, head, at) ?? compareHeads(true)
    return result(bad)
  }
}

/** The fault of an entry, as the one behind `at`. */
export function wrongIn(
  app: Verifier,
  entry: ChainedEntry,
  at: { readonly seq: number; readonly hash: Buffer },
): Bad | null {
  if (entry.seq !== at.seq + 1) return { seq: at.seq + 1, reason: `The entry with seq ${at.seq + 1} is missing.` }
  const bad = (reason: string): Bad => ({ seq: entry.seq, reason })
  if (!hashEntry(entry).equals(entry.hash)) return bad('The entry was changed: its hash is wrong.')
  if (!entryMac(app.auditKey, entry.hash).equals(entry.mac))
    return bad(
      'The entry was not written by the service, or it follows entries or a stored head that were removed or changed.',
    )
  if (!entry.prev_hash.equals(at.hash)) return bad('The entry does not follow the one before it.')
  return null
}

function headProblem(
  app: Verifier,
  orgId: string,
  head: Awaited<ReturnType<typeof selectHead>>,
  at: { readonly seq: number; readonly hash: Buffer },
): Bad | null {
  if (head === null) return at.seq === 0 ? null : { seq: at.seq, reason: 'The stored head of the chain is missing.' }
  if (!headMac(app.auditKey, { ...head, org_id: orgId }).equals(head.mac))
    return { seq: at.seq + 1, reason: 'The stored head was changed: entries behind this one may be missing.' }
  if (head.seq < at.seq) return { seq: head.seq + 1, reason: `The stored head has seq ${head.seq}.` }
  return head.hash.equals(at.hash) ? null : { seq: at.seq, reason: 'The stored head has another hash.' }
}

const bytesOf = ({ signature }: SignedHead): Buffer => Buffer.from(signature, 'base64url')

/** Whether the service made the checkpoint. */
export function isSigned(app: Verifier, { org_id, seq, hash, created_at, signature }: Checkpoint): boolean {
  const text = headText('checkpoint', {
    org_id,
    seq,
    hash: hash.toString('hex'),
    created_at: created_at.toISOString(),
  })
  return app.auditKey.verify(text, signature)
}
