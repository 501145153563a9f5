/** Why a model gave no whole answer. The message is one sentence for the user: it holds no text of the model's server. */
export class ModelError extends Error {
  readonly code: 'unreachable' | 'refused' | 'busy' | 'broken' | 'too_long' | 'too_late' | 'cancelled'

  constructor(code: ModelError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ModelError'
    this.code = code
  }
}

/** The error for a status other than 200. */
export function statusError(status: number, retryAfter: string | null): ModelError {
  const is = (code: ModelError['code'], text: string) => new ModelError(code, `${text} (HTTP ${status}).`)
  if (status === 401 || status === 403)
    return is('refused', 'The model refused the key. The operator must check AI_API_KEY')
  if (status === 404)
    return is('refused', 'The model does not exist at its address. The operator must check AI_BASE_URL and AI_MODEL')
  if (status === 429) {
    const seconds = Number(retryAfter)
    const wait = retryAfter !== null && seconds > 0 && seconds < 86_400 ? `in ${Math.ceil(seconds)} seconds` : 'later'
    return is('busy', `The model takes no more requests now. Try again ${wait}`)
  }
  if (status >= 500) return is('broken', "The model's server failed. Try again later")
  return is('refused', "The model's server refused the request. The operator must check AI_BASE_URL and AI_MODEL")
}
