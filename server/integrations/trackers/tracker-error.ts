/**
 * `unauthorised`: the credentials are refused; `forbidden`: they lack a right; `missing`: an address or thing does not
 * exist; `refused`: the tracker says what is wrong with the request; `limited`: it asks to wait; `uncertain`: no answer,
 * the call may have had its effect; `unreachable`: nothing was sent.
 */
export type TrackerErrorKind =
  | 'unauthorised'
  | 'forbidden'
  | 'missing'
  | 'refused'
  | 'limited'
  | 'uncertain'
  | 'unreachable'

/** Why a call to a tracker did not succeed. The message is a sentence, with the words of the tracker. */
export class TrackerError extends Error {
  readonly kind: TrackerErrorKind
  readonly status: number | null
  readonly retryAfterMs: number | null

  constructor(
    kind: TrackerErrorKind,
    message: string,
    status: number | null = null,
    retryAfterMs: number | null = null,
  ) {
    super(message)
    this.name = 'TrackerError'
    this.kind = kind
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}
