import type { AnswerEvent, AnswerSource } from '../../server/assistant/ask/ask.api.ts'
import { openStream, type BodyOf } from './call.ts'

export type { AnswerEvent, AnswerSource }
export type AskBody = BodyOf<'POST /api/ask'>

/** The server sends a heartbeat every 15 s. */
const SILENCE_MS = 60_000
/** A longer line is no event of the server. */
const MAX_LINE = 1_000_000

/**
 * Asks, and gives each event as it arrives.
 * @returns whether the answer is complete; otherwise the connection broke off
 * @throws ApiError when the question is refused
 */
export async function streamAnswer(
  body: AskBody,
  signal: AbortSignal,
  onEvent: (event: AnswerEvent) => void,
): Promise<boolean> {
  const silence = new AbortController()
  const response = await openStream('POST /api/ask', { body, signal: AbortSignal.any([signal, silence.signal]) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return false
  let timer: ReturnType<typeof setTimeout> | undefined
  let rest = ''
  try {
    for (;;) {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), SILENCE_MS)
      const { done, value } = await reader.read()
      if (done) return false
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE) return false
      for (const line of lines) {
        if (line.trim() === 'data: [DONE]') return true
        const event = parseAnswerEvent(line)
        if (event !== null) onEvent(event)
      }
    }
  } catch {
    // A lost connection; the caller knows whether it stopped the answer itself.
    return false
  } finally {
    clearTimeout(timer)
    void reader.cancel().catch(() => undefined)
  }
}

/** Null for heartbeats, and for events of a newer server. */
export function parseAnswerEvent(line: string): AnswerEvent | null {
  if (!line.startsWith('data:')) return null
  try {
    const data: unknown = JSON.parse(line.slice(5))
    return isAnswerEvent(data) ? data : null
  } catch {
    return null
  }
}

/** The server serialises with the schema of this type, so what is in it is not validated again. */
const isAnswerEvent = (data: unknown): data is AnswerEvent =>
  typeof data === 'object' && data !== null && ('delta' in data || 'source' in data || 'error' in data)
