import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { parseTime } from '../../events/protocol/time.ts'
import { addImported, type ImportedEvent, isDigested } from '../../ingest/spool/add-imported.ts'
import type { App } from '../../platform/context/app.ts'
import { quietly } from '../../platform/context/app.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { readProjectKeys, type ProjectRow } from '../../projects/registry/projects.queries.ts'
import { saveThing, selectThings } from './imports.queries.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** Lines of a transaction. */
const BATCH = 100
const MAX_EVENT_BYTES = 1024 * 1024
const MAX_ENVELOPE_BYTES = 100 * 1024 * 1024
const POLL_MS = 50
/** Recognises a file that was cut off and continued: its name and its beginning. */
const BEGINNING_BYTES = 64 * 1024

export type FileProgress = {
  readonly events: number
  /** Lines that are no event with a time, by their reason. */
  readonly skipped: ReadonlyMap<string, number>
  readonly bytes: number
  readonly totalBytes: number
}

/**
 * Imports events from a file with their old times: a JSON event on each line, or one envelope. A file that was imported in
 * part continues after the last line that was stored.
 * @throws AppError invalid for a file that is neither, conflict for a project without a key
 */
export async function importFile(
  app: App,
  project: ProjectRow,
  path: string,
  onProgress: (progress: FileProgress) => void,
  signal: AbortSignal,
): Promise<FileProgress> {
  const [key] = await readProjectKeys(app.db, project.id)
  if (key === undefined) throw conflict(`${project.name} has no DSN key. Make one in its settings.`)
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const beginning = Buffer.alloc(Math.min(size, BEGINNING_BYTES))
    await file.read(beginning, 0, beginning.length, 0)
    const source = createHash('sha256').update(basename(path)).update(beginning).digest('hex')
    const skipped = new Map<string, number>()
    const things = await selectThings(app.db, project.org_id, source, 'file', [project.id])
    let bytes = things.get(project.id)?.quantity ?? 0
    let events = 0
    const store = async (batch: readonly ImportedEvent[], end: number): Promise<void> => {
      const target = { projectId: project.id, projectNumber: project.number, keyId: key.id }
      const rows = await quietly(app).tx(async (tx) => {
        const thing = { org_id: project.org_id, source, kind: 'file' as const, source_id: project.id, quantity: end }
        await saveThing(tx, thing)
        return addImported(tx, target, batch, app.clock.now())
      })
      while (!(await isDigested(app.db, project.number, rows))) await delay(POLL_MS, undefined, { signal })
      events += batch.length
      bytes = end
      onProgress({ events, skipped, bytes, totalBytes: size })
    }
    const skip = (reason: string): void => void skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
    if (isEnvelope(beginning)) {
      if (size > MAX_ENVELOPE_BYTES) throw invalid(`${path} is larger than 100 MiB.`)
      if (bytes === 0) await store(eventsOfEnvelope(await readFile(path), skip), size)
    } else {
      let batch: ImportedEvent[] = []
      let end = bytes
      for await (const line of file.readLines({ start: bytes, autoClose: false })) {
        signal.throwIfAborted()
        end = Math.min(size, end + Buffer.byteLength(line) + 1)
        const event = line.trim() === '' ? null : eventOf(Buffer.from(line), skip)
        if (event !== null) batch.push(event)
        if (batch.length < BATCH) continue
        await store(batch, end)
        batch = []
      }
      if (end > bytes) await store(batch, end)
    }
    return { events, skipped, bytes, totalBytes: size }
  } finally {
    await file.close()
  }
}

/** The second line of an envelope names the type of an item. */
function isEnvelope(beginning: Buffer): boolean {
  const [, second = ''] = beginning.toString('utf8').split('\n', 2)
  return /^\{[^\n]*"type"\s*:\s*"[a-z_]+"/.test(second) && !/"(exception|message|logentry|event_id)"\s*:/.test(second)
}

function eventsOfEnvelope(bytes: Buffer, skip: (reason: string) => void): ImportedEvent[] {
  const { items } = parseEnvelope(bytes)
  return items.flatMap(({ type, start, end }) => {
    const event = type === 'event' ? eventOf(bytes.subarray(start, end), skip) : null
    if (type !== 'event') skip(`items of type ${type}`)
    return event === null ? [] : [event]
  })
}

function eventOf(body: Buffer, skip: (reason: string) => void): ImportedEvent | null {
  if (body.length > MAX_EVENT_BYTES) return (skip('larger than 1 MiB'), null)
  const event = readJsonText(body)
  if (event === undefined) return (skip('not JSON'), null)
  if (typeof event !== 'object' || event === null || Array.isArray(event)) return (skip('not an event'), null)
  const received = 'received' in event ? parseTime(event.received) : null
  const happened = 'timestamp' in event ? parseTime(event.timestamp) : null
  const at = received ?? happened
  if (at === null) return (skip('without a timestamp'), null)
  const receivedAtMs = Math.max(new Date(at).getTime(), happened === null ? 0 : new Date(happened).getTime())
  return Number.isFinite(receivedAtMs) ? { body, receivedAtMs } : (skip('without a timestamp'), null)
}
