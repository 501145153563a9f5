import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { callApi } from './call-api.ts'
import { parseAnswer, type Target } from './call-server.ts'
import type { PlannedUpload } from './plan.ts'
import { StoredFile } from './send-file.ts'

/** A file that is stored and perhaps not indexed yet. */
export type SentFile = { readonly upload: PlannedUpload; readonly file: StoredFile }

const INTERVAL_MS = 1_000
const Page = z.object({ items: z.array(StoredFile), next_cursor: z.string().nullable() })

/**
 * Reads the states of files until each is ready or failed, or the time is over.
 * @param onEnd is called once for each file that is no longer being indexed
 * @returns files that are being indexed still
 * @throws UploadError when the service does not answer
 */
export async function waitUntilIndexed(
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
