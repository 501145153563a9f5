import type { CodeHost } from './code-host.api.ts'
import type { Client } from '#test/kit/client.ts'
import type { HostedCommit, Sent } from '#test/kit/code-host-github.ts'
import { aSha } from '#test/kit/code-host-github.ts'
import { waitFor } from '#test/kit/wait.ts'

export const codeHostPath = (projectId: string): string => `/api/projects/${projectId}/integrations/codehost`

/** Connects a project. @returns the secret of the webhook */
export async function connected(by: Client, projectId: string, body: Record<string, unknown>): Promise<string> {
  const answer = await by.post(codeHostPath(projectId), body)
  if (answer.status !== 200) throw new Error(`connecting answered ${answer.status} ${answer.text}`)
  return answer.as<{ webhook_secret: string }>().webhook_secret
}

export const readState = async (by: Client, projectId: string): Promise<CodeHost> =>
  (await by.get(codeHostPath(projectId))).as<CodeHost>()

/** Sends a delivery as a code host does. */
export async function deliver(
  url: string,
  projectId: string,
  { headers, body }: Sent,
): Promise<{ status: number; result: string; text: string }> {
  const answer = await fetch(`${url}/api/integrations/codehost/webhook?project=${projectId}`, {
    method: 'POST',
    headers,
    body,
  })
  const text = await answer.text()
  const parsed: unknown = JSON.parse(text)
  const result = typeof parsed === 'object' && parsed !== null && 'result' in parsed ? String(parsed.result) : ''
  return { status: answer.status, result, text }
}

/** Waits until no delivery of the project waits. @returns the newest state */
export const settled = (by: Client, projectId: string): Promise<CodeHost> =>
  waitFor(
    'the deliveries to be worked on',
    async () => {
      const state = await readState(by, projectId)
      return state.deliveries.length > 0 && state.deliveries.every(({ state: is }) => is !== 'waiting') ? state : null
    },
    60_000,
  )

/** A commit of Tomo an hour before `at`. */
export const aCommit = (seed: string, at: Date, over: Partial<HostedCommit> = {}): HostedCommit => ({
  sha: aSha(seed),
  message: seed,
  name: 'Tomo A.',
  email: 'tomo@meadowlark.example',
  at: new Date(at.getTime() - 3_600_000),
  files: [{ filename: 'src/checkout/pay.ts', status: 'modified' }],
  ...over,
})
