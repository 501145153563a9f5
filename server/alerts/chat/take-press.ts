import { findChatButton } from '../actions/chat-buttons.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { readPress } from './chat-payload.ts'
import { type SignedRequest, verifyChatSignature } from './chat-signature.ts'
import { deleteRequests, insertRequests } from './chat.queries.ts'
import { pressButton, type ChatAnswer } from './press-button.ts'
import { EgressError } from '../../platform/context/egress.ts'

/** The platform shows an error when it waits for 3 s. */
const ANSWER_MS = 2_500

/**
 * Takes a request of the chat platform: verifies it, does what the button says, and updates the message. A request is taken
 * once; a press has its effect once, however often and with whatever signatures the platform delivers it.
 * @throws AppError unauthenticated (signature, time, or seen before), invalid (verified and not readable)
 */
export async function takePress(app: App, caller: Caller, request: SignedRequest): Promise<void> {
  const secret = app.config.chatSigningSecret
  const now = app.clock.now()
  const signature = secret === null ? null : verifyChatSignature(request, secret, now)
  if (signature === null) throw refused()
  const press = readPress(request)
  const keys = press === null ? [signature] : [signature, press.key]
  const fresh = await insertRequests(app.db, keys, now)
  if (!fresh.has(signature.toString('hex'))) throw refused()
  const button = press === null ? undefined : findChatButton(press.actionId)
  // Other interactions, such as a button that opens a page, need no answer.
  if (press === null || button === undefined) return
  const isFirst = fresh.has(press.key.toString('hex'))
  const work = async () => answerChat(app, press.responseUrl, await pressButton(app, caller, press, button, isFirst))
  await inTime(app, work, () => deleteRequests(app.db, keys))
}

/** One sentence, whatever failed: who guesses learns nothing. */
const refused = () => unauthenticated('This request is not signed by the chat platform for this moment.')

/**
 * Ends the wait, not the work: the platform gets its answer in time.
 * @param undo after an error the platform may send the request again
 */
async function inTime(app: App, work: () => Promise<void>, undo: () => Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), ANSWER_MS)
  let isLate = false
  const done = work().catch(async (error: unknown) => {
    await undo()
    if (!isLate) throw error
    app.log.error({ err: error }, 'the press of a button in the chat failed after its answer')
  })
  try {
    isLate = (await Promise.race([done, late])) === 'late'
  } finally {
    clearTimeout(timer)
  }
}

const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 1_024

/**
 * Updates the message, or tells the user something. What was pressed has had its effect: a platform that cannot be reached
 * is a line of the log.
 * @param url of the request; its host is not ours to trust
 */
async function answerChat(app: App, url: string | null, answer: ChatAnswer): Promise<void> {
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
