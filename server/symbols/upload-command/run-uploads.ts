import { FileRefusedError, callApi } from './call-api.ts'
import { type Target, parseAnswer } from './call-server.ts'
import { type PlannedUpload, UploadError } from './plan.ts'
import type { Screen } from './screen.ts'
import { sendFile, StoredFile } from './send-file.ts'
import { sizeText } from './check-size.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

/** A file of this size takes long enough that its start is a line of its own. */
const LARGE_BYTES = 16 * 1024 * 1024

/**
 * Sends files.
 * @param wait null where the command ends as soon as the files are stored
 * @returns whether each of them is stored, and with `wait` indexed
 * @throws UploadError when no further file can be sent, or the time to wait is over
 */
export async function runUploads(
  uploads: readonly PlannedUpload[],
  options: {
    readonly target: Target
    readonly project: string
    readonly wait: { readonly timeoutMs: number } | null
    readonly screen: Screen
  },
): Promise<boolean> {
  const { target, screen } = options
  const say = (line: string): void => screen.line(line)
  const projectId = await findProject(target, options.project, say)
  const sent: SentFile[] = []
  const counts = { stored: 0, known: 0, refused: 0 }
  const total = uploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  let before = 0
  for (const upload of uploads) {
    const start = before
    before += upload.sizeBytes
    if (upload.sizeBytes >= LARGE_BYTES) say(`${upload.path}: sending ${sizeText(upload.sizeBytes)}`)
    const onBytes = (bytes: number): void => screen.bar(start + bytes, total, upload.path)
    try {
      const { files, areKnown } = await sendFile(target, projectId, upload, { onBytes, say })
      sent.push(...files.map((file) => ({ upload, file })))
      counts[areKnown ? 'known' : 'stored']++
      say(`${describeUpload(upload)}: ${areKnown ? 'already there' : `stored, ${sizeText(upload.sizeBytes)}`}`)
    } catch (error) {
      if (!(error instanceof FileRefusedError)) throw error
      counts.refused++
      screen.error(`${upload.path}: ${error.message}`)
    }
  }
  say(summaryOf(counts))
  const areUsable = await reportIndexes(target, projectId, sent, options)
  return counts.refused === 0 && areUsable
}

export const describeUpload = ({ path, names }: PlannedUpload): string => [path, ...names].join('  ')

const summaryOf = ({ stored, known, refused }: Readonly<Record<'stored' | 'known' | 'refused', number>>): string =>
  [
    `${files(stored)} stored`,
    ...(known === 0 ? [] : [`${known} already there`]),
    ...(refused === 0 ? [] : [`${refused} refused`]),
  ].join(', ')

const files = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`

/** @returns false when the caller waits and a file cannot be used */
async function reportIndexes(
  target: Target,
  projectId: string,
  sent: readonly SentFile[],
  { wait, screen }: { readonly wait: { readonly timeoutMs: number } | null; readonly screen: Screen },
): Promise<boolean> {
  let failed = 0
  const onEnd = ({ upload, file }: SentFile): void => {
    if (file.state === 'ready') return screen.line(`${upload.path}: ready`)
    failed++
    screen.error(`${upload.path}: cannot be used: ${file.problem ?? 'Upload it again.'}`)
  }
  if (wait === null) {
    // One that was there before may have failed before.
    for (const one of sent) if (one.file.state === 'failed') onEnd(one)
    return true
  }
  const say = (line: string): void => screen.line(line)
  const left = await waitUntilIndexed(target, projectId, sent, { timeoutMs: wait.timeoutMs, say, onEnd })
  const [first] = left
  if (first !== undefined)
    throw new UploadError(
      `${files(left.length)} not indexed after ${wait.timeoutMs / 1_000} s, such as ${first.upload.path}. They are stored: look on the page Symbols later, or wait longer with --timeout.`,
    )
  return failed === 0
}

/** A file that is stored and perhaps not indexed yet. */
type SentFile = { readonly upload: PlannedUpload; readonly file: StoredFile }

const INTERVAL_MS = 1_000
const Page = z.object({ items: z.array(StoredFile), next_cursor: z.string().nullable() })

/**
 * Reads the states of files until each is ready or failed, or the time is over.
 * @param onEnd is called once for each file that is no longer being indexed
 * @returns files that are being indexed still
 * @throws UploadError when the service does not answer
 */
async function waitUntilIndexed(
  target: Target,
  projectId: string,
  sent: readonly SentFile[],
  options: {
    readonly timeoutMs: number
    readonly onEnd: (ended: SentFile) => void
    readonly say: (line: string) => void
  },
): Promise<readonly SentFile[]> {
  const until = performance.now() + options.timeoutMs
  let left = sent
  for (;;) {
    left = left.filter((one) => {
      if (one.file.state !== 'indexing') options.onEnd(one)
      return one.file.state === 'indexing'
    })
    const leftMs = until - performance.now()
    if (left.length === 0 || leftMs <= 0) return left
    await wait(Math.min(INTERVAL_MS, leftMs))
    const now = new Map<string, StoredFile>()
    for (const to of ['source-maps', 'dsyms'] as const) {
      const files = left.filter(({ upload }) => upload.to === to).map(({ file }) => file)
      for (const file of await readStates(target, `api/projects/${projectId}/${to}`, files, options.say))
        now.set(file.id, file)
    }
    left = left.map((one) => ({ ...one, file: now.get(one.file.id) ?? DELETED(one.file) }))
  }
}

const DELETED = (file: StoredFile): StoredFile => ({
  ...file,
  state: 'failed',
  problem: 'The file was deleted meanwhile.',
})

/** Lists begin with the newest files, so that the pages behind the oldest of these need not be read. */
async function readStates(
  target: Target,
  path: string,
  files: readonly StoredFile[],
  say: (line: string) => void,
): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  const wanted = new Set(files.map(({ id }) => id))
  const oldest = Math.min(...files.map(({ created_at: at }) => Date.parse(at)))
  let cursor: string | null = null
  while (found.length < wanted.size) {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) })
    const answer = await callApi(target, { method: 'GET', path: `${path}?${query.toString()}` }, say)
    const page: z.output<typeof Page> = parseAnswer(Page, answer, target)
    found.push(...page.items.filter(({ id }) => wanted.has(id)))
    cursor = page.next_cursor
    const last = page.items.at(-1)
    if (cursor === null || last === undefined || Date.parse(last.created_at) < oldest) break
  }
  return found
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/iu
const Projects = z.object({
  items: z.array(z.object({ id: z.string(), slug: z.string(), number: z.number() })),
  next_cursor: z.string().nullable(),
})
const MAX_SHOWN = 10

/**
 * The id of a project.
 * @param name its short name, its id, or its number in the DSN
 * @throws UploadError when the organisation of the API key has no such project
 */
async function findProject(target: Target, name: string, say: (line: string) => void): Promise<string> {
  if (UUID.test(name)) return name.toLowerCase()
  const others: string[] = []
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ limit: '100', ...(cursor === null ? {} : { cursor }) })
    const answer = await callApi(target, { method: 'GET', path: `api/projects?${query.toString()}` }, say)
    const page: z.output<typeof Projects> = parseAnswer(Projects, answer, target)
    const found = page.items.find(({ slug, number }) => slug === name || String(number) === name)
    if (found !== undefined) return found.id
    others.push(...page.items.map(({ slug }) => slug))
    cursor = page.next_cursor
  } while (cursor !== null)
  const shown = [...others.slice(0, MAX_SHOWN), ...(others.length > MAX_SHOWN ? ['…'] : [])].join(', ')
  throw new UploadError(
    `The organisation of this token has no project ${name}. ${others.length === 0 ? 'Create one in the dashboard.' : `--project takes one of ${shown}.`}`,
  )
}
