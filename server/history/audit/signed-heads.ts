import { createReadStream } from 'node:fs'
import { appendFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { type App, perApp } from '../../platform/context/app.ts'
import type { AuditKey } from '../../platform/context/audit-key.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { headMac } from './add-entries.ts'
import { canonicalJson } from './canonical-json.ts'
import { markSigned, selectHeads, selectPlaces, type StoredHead } from './verify.queries.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/**
 * Signed heads: every minute and when the process stops, the newest place of each chain with new entries is signed and
 * written outside the database, to the log of the service and to files. Removing entries, or restoring an older database,
 * does not change those. `latest.ndjson` has the newest head of each chain, `<year>.ndjson` the last one of each hour.
 */

const SignedHead = z.object({
  org_id: z.guid(),
  seq: z.number().int(),
  hash: z.string(),
  created_at: z.string(),
  key_id: z.string(),
  /** Ed25519, base64url. */
  signature: z.string(),
})
export type SignedHead = z.infer<typeof SignedHead>

type Place = { readonly org_id: string; readonly seq: number; readonly hash: Buffer }

/** The text that is signed. Its purpose keeps a checkpoint from passing as a head, and a head as a checkpoint. */
export const headText = (purpose: 'head' | 'checkpoint', head: Omit<SignedHead, 'signature' | 'key_id'>): string => {
  const { org_id, seq, hash, created_at } = head
  return canonicalJson({ purpose: `faultline audit ${purpose}`, org_id, seq, hash, created_at })
}

export function signHead(key: AuditKey, { org_id, seq, hash }: Place, now: Date): SignedHead {
  const head = { org_id, seq, hash: hash.toString('hex'), created_at: now.toISOString() }
  return { ...head, key_id: key.id, signature: key.sign(headText('head', head)).toString('base64url') }
}

const folderOf = ({ config }: Pick<App, 'config'>): string => join(config.dataDir, 'audit-heads')
const LATEST = 'latest.ndjson'
const BATCH = 500
/** An arbitrary number. Two processes with one data directory would otherwise overwrite each other's heads. */
const SIGN_LOCK = 7_201_994_323

/**
 * Signs the heads of all chains that have grown since their last signed head. What was signed is read from the files: no
 * column that someone sets in the database prevents signing. A head that the service did not write, or behind which the
 * last signed place is missing, is reported and not signed.
 */
export async function signHeads(app: App, signal?: AbortSignal): Promise<void> {
  await app.tx(async (tx) => {
    await lockUntilEnd(tx, SIGN_LOCK)
    const now = app.clock.now()
    const latest = new Map<string, SignedHead>()
    const kept: string[] = []
    let isChanged = false
    const unreadable = await readFile(
      join(folderOf(app), LATEST),
      () => true,
      (head) => latest.set(head.org_id, head),
    )
    kept.push(...unreadable)
    for (let after: string | null = null; ;) {
      signal?.throwIfAborted()
      const heads: StoredHead[] = await selectHeads(tx, after, BATCH)
      for (const head of await grown(tx, app, heads, latest)) {
        const signed = signHead(app.auditKey, head, now)
        const before = latest.get(head.org_id)
        if (before !== undefined && hourOf(before) !== hourOf(signed)) kept.push(canonicalJson(before))
        latest.set(head.org_id, signed)
        isChanged = true
        app.log.info(signed, 'audit.head')
        if (!head.is_signed) await markSigned(app.db, head.org_id)
      }
      after = heads.at(-1)?.org_id ?? null
      if (heads.length < BATCH) break
    }
    if (!isChanged) return
    await mkdir(folderOf(app), { recursive: true, mode: 0o700 })
    await append(join(folderOf(app), `${now.getUTCFullYear()}.ndjson`), kept)
    await replace(join(folderOf(app), LATEST), [...latest.values()].map(canonicalJson))
    await removeOld(app, now.getUTCFullYear() - 2)
  })
}

const hourOf = ({ created_at }: SignedHead): string => created_at.slice(0, 13)

/** The heads that are newer than their last signed ones. Wrong ones are reported. */
async function grown(
  tx: Tx,
  app: App,
  heads: readonly StoredHead[],
  latest: ReadonlyMap<string, SignedHead>,
): Promise<StoredHead[]> {
  const changed = heads.filter((head) => {
    const before = latest.get(head.org_id)
    return head.seq > 0 && (before?.seq !== head.seq || before.hash !== head.hash.toString('hex'))
  })
  const befores = changed.flatMap(({ org_id }) => latest.get(org_id) ?? [])
  const places = new Map((await selectPlaces(tx, befores)).map((place) => [place.org_id, place]))
  return changed.filter((head) => {
    const before = latest.get(head.org_id)
    const place = places.get(head.org_id)
    const wrong = !headMac(app.auditKey, head).equals(head.mac)
      ? 'its stored head was changed'
      : before !== undefined && place !== undefined && !place.is_purged && place.hash?.toString('hex') !== before.hash
        ? `the entry with seq ${before.seq}, which was signed at ${before.created_at}, is missing`
        : null
    if (wrong !== null) report(app, head.org_id, wrong)
    return wrong === null
  })
}

const reported = perApp(() => new Map<string, number>())
const REPORT_EVERY_MS = 3_600_000

function report(app: App, orgId: string, reason: string): void {
  const now = app.clock.monotonicMs()
  const before = reported(app).get(orgId)
  if (before !== undefined && now - before < REPORT_EVERY_MS) return
  reported(app).set(orgId, now)
  app.log.error(
    { org_id: orgId, reason },
    'an audit log is broken; its end is not signed. Run the command "audit verify"',
  )
}

/** On disk when this returns. A kill may have cut off the last line of the file. */
async function append(file: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  const handle = await open(file, 'a+', 0o600)
  try {
    const { size } = await handle.stat()
    const last = Buffer.alloc(1)
    if (size > 0) await handle.read(last, 0, 1, size - 1)
    const isCut = size > 0 && last.toString() !== '\n'
    await appendFile(handle, `${isCut ? '\n' : ''}${lines.join('\n')}\n`)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

/** Replaces a file with all its lines at once. */
async function replace(file: string, lines: readonly string[]): Promise<void> {
  const draft = `${file}.${process.pid}`
  await rm(draft, { force: true })
  await append(draft, lines)
  await rename(draft, file)
}

const isHeadFile = (name: string): boolean => /^\d{4}\.ndjson$/.test(name)

async function removeOld(app: App, lastYear: number): Promise<void> {
  for (const file of await readdir(folderOf(app)))
    if (isHeadFile(file) && Number(file.slice(0, 4)) <= lastYear) await rm(join(folderOf(app), file))
}

export type SignedHeads = {
  /** By organisation, in the order of its chain. */
  readonly ofOrgs: ReadonlyMap<string, readonly SignedHead[]>
  /** All that have a head in the files, wanted or not. */
  readonly orgIds: ReadonlySet<string>
  /** Lines that are no signed head: a kill cut one off, or someone changed the file. */
  readonly unreadable: number
}

/** The signed heads of the wanted organisations, in one pass over the files. */
export async function readSignedHeads(
  app: Pick<App, 'config'>,
  isWanted: (orgId: string) => boolean,
): Promise<SignedHeads> {
  const ofOrgs = new Map<string, SignedHead[]>()
  const orgIds = new Set<string>()
  const unreadable: string[] = []
  const names = await readdir(folderOf(app)).catch(emptyWhenMissing)
  for (const name of names.filter((file) => isHeadFile(file) || file === LATEST)) {
    const want = (orgId: string): boolean => {
      orgIds.add(orgId)
      return isWanted(orgId)
    }
    const lines = await readFile(join(folderOf(app), name), want, (head) => {
      const heads = ofOrgs.get(head.org_id)
      if (heads === undefined) ofOrgs.set(head.org_id, [head])
      else heads.push(head)
    })
    unreadable.push(...lines)
  }
  for (const heads of ofOrgs.values()) heads.sort((a, b) => a.seq - b.seq)
  return { ofOrgs, orgIds, unreadable: unreadable.length }
}

/** The organisation of a line, before it is parsed: most lines are about others. */
const LINE = /^\{.*"org_id":"([0-9a-f-]{36})".*\}$/

/** @returns the lines that cannot be read; nothing for a missing file */
async function readFile(
  file: string,
  isWanted: (orgId: string) => boolean,
  take: (head: SignedHead) => void,
): Promise<string[]> {
  const unreadable: string[] = []
  const handle = await open(file).catch(nullWhenMissing)
  if (handle === null) return unreadable
  const lines = createInterface({ input: createReadStream(file, { fd: handle }), crlfDelay: Infinity })
  for await (const line of lines) {
    if (line === '') continue
    const orgId = LINE.exec(line)?.[1]
    if (orgId !== undefined && !isWanted(orgId)) continue
    const head = SignedHead.safeParse(readJsonText(line))
    if (head.success && head.data.org_id === orgId) take(head.data)
    else unreadable.push(line)
  }
  return unreadable
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

function emptyWhenMissing(error: unknown): string[] {
  if (isMissing(error)) return []
  throw error
}

function nullWhenMissing(error: unknown): null {
  if (isMissing(error)) return null
  throw error
}

export const signHeadsTask = defineTask({
  name: 'sign-audit-heads',
  payload: NoPayload,
  cron: '* * * * *',
  run: (app, _payload, signal) => signHeads(app, signal),
})
