import type { OrgActor } from './actor.ts'

/** Input of an operation as a client of the API would send it. It is validated in the same way. */
export type OperationInput = {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/**
 * The endpoints of the product API, for callers inside the service that act for a member: a button in a chat, later an
 * assistant. Contract and handlers lie above every domain, so callers name an endpoint by its name in the contract.
 */
export type Operations = {
  /**
   * Does what the endpoint does, with the same permission, validation, audit and shape of the answer.
   * @param name such as `updateIssue`
   * @throws AppError as the endpoint, and not_found for an endpoint that needs an HTTP request of its own (public, with
   *   cookies, streams or raw bytes)
   */
  call(actor: OrgActor, name: string, input: OperationInput): Promise<unknown>
  /**
   * The data of every event of an endpoint that answers with a stream, when the stream has ended.
   * @param signal ends the stream
   * @throws AppError as the endpoint; unavailable when the signal aborts first, or the stream is too long
   */
  collect(actor: OrgActor, name: string, input: OperationInput, signal: AbortSignal): Promise<readonly unknown[]>
}
