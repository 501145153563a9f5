import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Inputs, RouteSpec, RouteSpecs } from '../kernel/contract.ts'
import type { Caller, OrgActor, SessionActor } from './actor.ts'
import type { App } from './app.ts'

/** Attributes that the handler decides; `http/` always sets HttpOnly and Secure. */
type CookieOptions = {
  readonly path: string
  readonly sameSite: 'lax' | 'strict'
  readonly maxAgeSeconds: number
}

/** Cookies of one call, by their name without prefix (`svc_access`). */
export type Cookies = {
  get(name: string): string | null
  set(name: string, value: string, options: CookieOptions): void
  clear(name: string, path: string): void
}

/** An open server-sent event stream. Writing to a closed one does nothing. */
export type EventStream = {
  send(event: string | null, data: unknown): void
  /** Aborted when the client is gone or the service stops. */
  readonly signal: AbortSignal
  /**
   * Ends it from our side; the client may connect again.
   * @param lastData data of one more event, as it is and not as JSON: one line of text
   */
  end(lastData?: string): void
}

/** A file that the client saves. */
export type SentFile = {
  readonly filename: string
  readonly contentType: string
  /** Null when it is not known before it is read. */
  readonly sizeBytes: number | null
  /** An error while reading it ends the connection. */
  readonly chunks: AsyncIterable<Buffer>
}

/** A request as it arrived: for signatures over its bytes. */
type RawRequest = { readonly headers: IncomingHttpHeaders; readonly body: Buffer }

/** A file that the client sends as the body. */
export type Upload = {
  /** As claimed; null when the client names none. */
  readonly contentType: string | null
  /** Can be read once. Reading throws `too_large`, and `invalid` when the client breaks off. */
  readonly content: AsyncIterable<Buffer>
}

/** Arguments of a handler, beside the app and the actor. */
export type Call<R extends RouteSpec> = Inputs<R> & {
  readonly cookies: Cookies
  /** The request as it arrived; only for routes with `rawBody`. */
  raw(): RawRequest
  /** The file; only for routes with `upload`. */
  upload(): Upload
  /** Answers with the route's `otherStatus`. */
  useOtherStatus(): void
  /** Sends the headers of a stream; only for routes with `stream: 'sse'`. */
  openStream(): EventStream
  /** Answers with a file; only for routes with `stream: 'file'`. */
  sendFile(file: SentFile): void
  /** Answers 302; only for routes with `stream: 'redirect'`. */
  redirect(location: string): void
}

/** Who calls a route. A public route knows only the request; a route of one's own account needs a session. */
type ActorOf<R extends RouteSpec> = R['permission'] extends 'public'
  ? Caller
  : R['permission'] extends 'self'
    ? SessionActor
    : OrgActor

export type Handler<R extends RouteSpec> = (app: App, actor: ActorOf<R>, call: Call<R>) => Promise<Answer<R>>

/** One handler per route, typed by the route's data. */
export type Handlers<T extends RouteSpecs> = { readonly [K in keyof T]: Handler<T[K]> }
