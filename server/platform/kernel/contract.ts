import type { z } from 'zod'
import type { Permission } from '#shared/permissions.ts'
import type { CsvTable } from './csv.ts'

/**
 * An endpoint, written once as data. From it come validation, types, OpenAPI, the permission check and the typed
 * client. `*.api.ts` files hold these; handlers are typed by them.
 */
export type RouteSpec = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` parameters, always beginning with `/api`. */
  readonly path: `/api/${string}`
  /** One line for readers of the API documentation: what a call does. */
  readonly summary: string
  /** Details worth documenting: rules, limits, what happens on repetition. */
  readonly description?: string
  /** Heading in the documentation. */
  readonly tag: string
  readonly permission: Permission
  /** Status of success; 204 means no body. Default 200. */
  readonly status?: 200 | 201 | 202 | 204
  /** Another status of success, for which the handler calls `useOtherStatus`. */
  readonly otherStatus?: 200 | 202
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The handler reads the bytes of the body itself, of any content type and at most 1 MiB: it checks their signature. With `upload` it reads them while they arrive. */
  readonly rawBody?: true
  /** The body is a file of any content type, which the handler reads while it arrives. */
  readonly upload?: { readonly maxBytes: number }
  /** Shape of the answer; undeclared fields are dropped. Absent for 204 and for streams. */
  readonly response?: z.ZodType
  /** The answer as a table, sent instead of it with `format=csv`; its query has `formatQuery`. */
  readonly csv?: CsvTable
  /** 'sse': the handler writes server-sent events itself; 'file': it sends a file; 'redirect': it sends the browser on. */
  readonly stream?: 'sse' | 'file' | 'redirect'
  /** It may take minutes: the time limit of handlers does not apply. */
  readonly isSlow?: true
  /** Statuses this route can refuse with beside those that follow from its policy; for the documentation. */
  readonly refusals?: readonly (401 | 403 | 404 | 409)[]
  /** Checks a public or safe route for cross-site calls. Unsafe methods with a cookie session are always checked. */
  readonly csrf?: boolean
}

export type RouteSpecs = Readonly<Record<string, RouteSpec>>

/** Declares routes; only keeps their literal types. */
export const routes = <const T extends RouteSpecs>(specs: T): T => specs

type Output<S> = S extends z.ZodType ? z.output<S> : undefined
type Input<S> = S extends z.ZodType ? z.input<S> : undefined

/** Inputs of a handler, already validated. */
export type Inputs<R extends RouteSpec> = {
  readonly params: Output<R['params']>
  readonly query: Output<R['query']>
  readonly body: Output<R['body']>
}

/** The value that a handler returns. */
export type Answer<R extends RouteSpec> = R['response'] extends z.ZodType ? z.input<R['response']> : void

/** Values that the typed client sends and receives. */
export type ClientCall<R extends RouteSpec> = (R['params'] extends z.ZodType
  ? { params: Input<R['params']> }
  : unknown) &
  (R['query'] extends z.ZodType ? { query?: Input<R['query']> } : unknown) &
  (R['body'] extends z.ZodType ? { body: Input<R['body']> } : unknown)
export type ClientAnswer<R extends RouteSpec> = R['response'] extends z.ZodType ? z.output<R['response']> : undefined

/** `'GET /api/issues'` → its spec, for the client. */
export type ByAddress<T extends RouteSpecs> = { [K in keyof T as `${T[K]['method']} ${T[K]['path']}`]: T[K] }
