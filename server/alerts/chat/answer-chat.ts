import type { App } from '../../platform/context/app.ts'
import { EgressError } from '../../platform/context/egress.ts'
import type { ChatAnswer } from './press-button.ts'

const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 1_024

/**
 * Updates the message, or tells the user something. What was pressed has had its effect: a platform that cannot be reached
 * is a line of the log.
 * @param url of the request; its host is not ours to trust
 */
export async function answerChat(app: App, url: string | null, answer: ChatAnswer): Promise<void> {
  if (url === null) return
  try {
    const { status } = await app.egress.request({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(answer)),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      group: 'chat',
    })
    if (status >= 300) app.log.warn({ status }, 'the chat did not take the update of a message')
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    app.log.warn({ error_code: error.code }, 'the update of a message could not be sent to the chat')
  }
}
