import { z } from 'zod'
import { callApi } from './call-api.ts'
import { parseAnswer, type Target } from './call-server.ts'
import { buildForm } from './form.ts'
import type { PlannedUpload } from './plan.ts'

/** A file as the service lists it. */
export const StoredFile = z.object({
  id: z.string(),
  state: z.enum(['indexing', 'ready', 'failed']),
  problem: z.string().nullable(),
  created_at: z.string(),
})
export type StoredFile = z.output<typeof StoredFile>

const Sent = z.union([
  StoredFile.transform((file) => [file]),
  z.object({ files: z.array(StoredFile) }).transform(({ files }) => files),
])

/**
 * Sends a file.
 * @returns the file, or each of a debug file with several; and whether the project had all of them
 * @throws UploadError, FileRefusedError
 */
export async function sendFile(
  target: Target,
  projectId: string,
  upload: PlannedUpload,
  screen: { readonly onBytes: (bytes: number) => void; readonly say: (line: string) => void },
): Promise<{ readonly files: readonly StoredFile[]; readonly areKnown: boolean }> {
  const path = `api/projects/${projectId}/${upload.to}`
  const answer = await callApi(target, { method: 'POST', path, form: buildForm(upload, screen.onBytes) }, screen.say)
  return { files: parseAnswer(Sent, answer, target), areKnown: answer.status === 200 }
}
