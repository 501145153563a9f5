import { z } from 'zod'
import { Json } from '../../platform/kernel/json.api.ts'

/**
 * The normalised Event: the result of `normalizeEvent`, which grouping reads and the API returns. Field names follow the
 * event payload of the SDK protocol.
 */

export const EVENT_LEVELS = ['fatal', 'error', 'warning', 'info', 'debug'] as const
export const EventLevel = z.enum(EVENT_LEVELS)
export type EventLevel = z.infer<typeof EventLevel>

const text = z.string().nullable()
const json = Json

/** Why a frame is not readable. */
export const UNREADABLE = ['missing_file', 'wrong_build', 'no_line', 'broken_file'] as const
export type Unreadable = (typeof UNREADABLE)[number]

/** Values of a frame as the app sent them. */
export const RawFrame = z.object({
  filename: text,
  abs_path: text,
  function: text,
  module: text,
  lineno: z.number().nullable(),
  colno: z.number().nullable(),
})

export const Frame = z.object({
  filename: text,
  abs_path: text,
  function: text,
  raw_function: text,
  module: text,
  package: text,
  platform: text,
  lineno: z.number().nullable(),
  colno: z.number().nullable(),
  in_app: z.boolean(),
  /** The SDK marked it in-app, but it belongs to an SDK, a runtime or a bundler. */
  marked_in_app: z.literal(true).optional(),
  context_line: text,
  pre_context: z.array(z.string()),
  post_context: z.array(z.string()),
  vars: z.record(z.string(), json).nullable(),
  instruction_addr: text,
  symbol_addr: text,
  image_addr: text,
  /** Present where a file of symbols made the frame readable. */
  raw: RawFrame.optional(),
  /** The call was inlined: the frame has no address of its own. */
  is_inlined: z.literal(true).optional(),
  unreadable: z.enum(UNREADABLE).optional(),
})
export type Frame = z.infer<typeof Frame>

export const Stacktrace = z.object({
  /** Outermost call first: the last frame is where it happened. */
  frames: z.array(Frame),
  /** Sent as `raw_stacktrace`, without another one. */
  is_raw: z.literal(true).optional(),
  registers: z.record(z.string(), z.string()).nullable(),
})
export type Stacktrace = z.infer<typeof Stacktrace>

export const Mechanism = z.object({
  type: text,
  description: text,
  help_link: text,
  handled: z.boolean().nullable(),
  synthetic: z.boolean(),
  data: z.record(z.string(), json).nullable(),
  meta: z.record(z.string(), json).nullable(),
  exception_id: z.number().nullable(),
  parent_id: z.number().nullable(),
  is_exception_group: z.boolean(),
  source: text,
})
export type Mechanism = z.infer<typeof Mechanism>

export const Exception = z.object({
  type: text,
  value: text,
  module: text,
  thread_id: text,
  mechanism: Mechanism.nullable(),
  stacktrace: Stacktrace.nullable(),
})
export type Exception = z.infer<typeof Exception>

export const Thread = z.object({
  id: text,
  name: text,
  state: text,
  crashed: z.boolean(),
  current: z.boolean(),
  main: z.boolean(),
  stacktrace: Stacktrace.nullable(),
})
export type Thread = z.infer<typeof Thread>

export const Breadcrumb = z.object({
  timestamp: z.string().nullable(),
  type: z.string(),
  category: text,
  level: EventLevel,
  message: text,
  data: z.record(z.string(), json).nullable(),
})
export type Breadcrumb = z.infer<typeof Breadcrumb>

export const EventUser = z.object({
  id: text,
  username: text,
  email: text,
  name: text,
  ip_address: text,
  geo: z.record(z.string(), json).nullable(),
  data: z.record(z.string(), json).nullable(),
})
export type EventUser = z.infer<typeof EventUser>

export const EventRequest = z.object({
  url: text,
  method: text,
  query_string: text,
  data: json.nullable(),
  cookies: z.array(z.tuple([z.string(), z.string()])),
  headers: z.array(z.tuple([z.string(), z.string()])),
  env: z.record(z.string(), json).nullable(),
})
export type EventRequest = z.infer<typeof EventRequest>

export const DebugImage = z.record(z.string(), json)

export const Tag = z.object({ key: z.string(), value: z.string() })
export type Tag = z.infer<typeof Tag>

export const Event = z.object({
  event_id: z.string().describe('32 lower-case hex digits.'),
  received_at: z.iso.datetime(),
  occurred_at: z.iso.datetime().describe("The client's claim, corrected for a wrong clock."),
  /** As sent: 'error' (default), 'csp', … */
  type: z.string(),
  platform: z.string(),
  level: EventLevel,
  title: z.string(),
  culprit: z.string(),
  logger: text,
  transaction: text,
  server_name: text,
  release: text,
  dist: text,
  environment: z.string().describe('Empty when the name that was sent is refused, which `errors` says.'),
  /** Formatted text of a message event, or beside an exception. */
  message: text,
  /** The unformatted template, if the SDK sent one. */
  message_template: text,
  /** Type and value of the exception that names the issue (the newest), null for messages. */
  error_type: text,
  error_value: text,
  is_unhandled: z.boolean(),
  /** Oldest cause first, as in the protocol. */
  exceptions: z.array(Exception),
  threads: z.array(Thread),
  breadcrumbs: z.array(Breadcrumb),
  tags: z.array(Tag),
  user: EventUser.nullable(),
  request: EventRequest.nullable(),
  contexts: z.record(z.string(), z.record(z.string(), json)),
  extra: z.record(z.string(), json),
  modules: z.record(z.string(), z.string()),
  sdk: z.object({ name: text, version: text }).nullable(),
  debug_images: z.array(DebugImage),
  /** As the SDK sent it; null when it sent none or only the default. */
  fingerprint: z.array(z.string()).nullable(),
  /** Values that normalisation dropped or corrected. */
  errors: z.array(z.object({ name: z.string(), reason: z.string() })),
})
export type Event = z.infer<typeof Event>
