import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { AuditKey } from '../context/audit-key.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { canonicalJson } from './canonical-json.ts'
import { markSigned, unsignedHeads } from './verify.queries.ts'

/**
 * Signed heads: every hour and when the process stops, the newest place of each chain is signed and written outside the
 * database, to the log of the service and to a file. Removing entries, or restoring an older database, does not change
 * those.
 */

const SignedHead = z.object({
  org_id: z.string(),
  seq: z.number().int(),
  hash: z.string(),
  created_at: z.string(),
  key_id: z.string(),
  /** Ed25519, base64url. */
  signature: z.string(),
})
export type SignedHead = z.infer<typeof SignedHead>

type Place = { readonly org_id: string; readonly seq: number; readonly hash: Buffer }

/** What is signed: a checkpoint is no head, and the reverse. */
export const headText = (purpose: 'head' | 'checkpoint', head: Omit<SignedHead, 'signature' | 'key_id'>): string => {
  const { org_id, seq, hash, created_at } = head
  return canonicalJson({ purpose: `faultline audit ${purpose}`, org_id, seq, hash, created_at })
}

export function signHead(key: AuditKey, { org_id, seq, hash }: Place, now: Date): SignedHead {
  const head = { org_id, seq, hash: hash.toString('hex'), created_at: now.toISOString() }
  return { ...head, key_id: key.id, signature: key.sign(headText('head', head)).toString('base64url') }
}

const folderOf = (app: App): string => join(app.config.dataDir, 'audit-heads')
const BATCH = 500

/** Signs the heads of all chains with new entries. A file per year; those of the last two years are needed. */
export async function signHeads(app: App, signal?: AbortSignal): Promise<void> {
  const now = app.clock.now()
  const year = now.getUTCFullYear()
  let after: string | null = null
  for (;;) {
    signal?.throwIfAborted()
    const heads = await unsignedHeads(app.db, after, BATCH)
    const last = heads.at(-1)
    if (last === undefined) return
    const signed = heads.map((head) => signHead(app.auditKey, head, now))
    await append(join(folderOf(app), `${year}.ndjson`), signed.map((head) => `${canonicalJson(head)}\n`).join(''))
    for (const head of signed) {
      app.log.info(head, 'audit.head')
      await markSigned(app.db, head.org_id, head.seq)
    }
    await removeOld(app, year - 2)
    if (heads.length < BATCH) return
    after = last.org_id
  }
}

/** On disk when this returns. */
async function append(file: string, text: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.write(text)
    await handle.datasync()
  } finally {
    await handle.close()
  }
}

async function removeOld(app: App, lastYear: number): Promise<void> {
  for (const file of await readdir(folderOf(app)))
    if (/^\d{4}\.ndjson$/.test(file) && Number(file.slice(0, 4)) <= lastYear) await rm(join(folderOf(app), file))
}

/** The signed heads of an organisation, oldest first. A line that a kill cut off is left out. */
export async function* signedHeadsOf(app: App, orgId: string): AsyncGenerator<SignedHead> {
  const files = await readdir(folderOf(app)).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  for (const file of files.filter((name) => /^\d{4}\.ndjson$/.test(name)).toSorted()) {
    const lines = createInterface({ input: createReadStream(join(folderOf(app), file)), crlfDelay: Infinity })
    for await (const line of lines) {
      if (!line.includes(orgId)) continue
      const head = SignedHead.safeParse(jsonOf(line))
      if (head.success && head.data.org_id === orgId) yield head.data
    }
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

export const signHeadsTask = defineTask({
  name: 'sign-audit-heads',
  payload: NoPayload,
  cron: '0 * * * *',
  run: (app, _payload, signal) => signHeads(app, signal),
})
