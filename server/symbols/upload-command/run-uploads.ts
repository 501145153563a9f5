import { FileRefusedError } from './call-api.ts'
import type { Target } from './call-server.ts'
import { findProject } from './find-project.ts'
import { type PlannedUpload, UploadError } from './plan.ts'
import type { Screen } from './screen.ts'
import { sendFile } from './send-file.ts'
import { sizeText } from './size-text.ts'
import { type SentFile, waitUntilIndexed } from './wait-until-indexed.ts'

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
