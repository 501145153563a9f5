import { hash } from 'node:crypto'
import { z } from 'zod'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { readTraceId } from '../../events/protocol/span.ts'
import { cut, storable } from '../../events/protocol/strings.ts'
import { foldEmail } from '../../identity/auth/email.ts'
import type { MessageContext } from './feedback.api.ts'

/** Feedback that is not stored yet. */
export type NewFeedback = {
  /** 32 hex digits: the client's id, or derived from the content. Feedback with the same id is stored once. */
  readonly feedbackId: string
  /** The event it refers to, 32 hex digits. */
  readonly eventId: string | null
  readonly message: string
  readonly name: string | null
  readonly email: string | null
  readonly url: string | null
  readonly source: string | null
  readonly replayId: string | null
  readonly release: string | null
  readonly environment: string | null
  readonly userHash: number | null
  /** The app, its device and its user, as the app described them. */
  readonly context: MessageContext | null
}

/** Limits of feedback (docs/protocol.md §11.5). */
const MAX_MESSAGE = 4_096
const MAX_TEXT = 256
const MAX_URL = 2_000

/** Feedback of a `feedback` item that is scrubbed and normalised; null without a message. */
export function parseFeedback(event: Event, userHash: number | null): NewFeedback | null {
  const context = event.contexts['feedback'] ?? {}
  const message = textOf(context['message'], MAX_MESSAGE)
  if (message === null) return null
  return {
    feedbackId: event.event_id,
    eventId: eventIdFrom(context['associated_event_id']),
    message,
    name: textOf(context['name'], MAX_TEXT) ?? event.user?.name ?? null,
    email: textOf(context['contact_email'], MAX_TEXT),
    url: textOf(context['url'], MAX_URL) ?? (event.request?.url == null ? null : cut(event.request.url, MAX_URL)),
    source: textOf(context['source'], MAX_TEXT),
    replayId: eventIdFrom(context['replay_id']) ?? eventIdFrom(event.contexts['replay']?.['replay_id']),
    release: event.release,
    environment: event.environment === '' ? null : event.environment,
    userHash,
    context: readContext(event),
  }
}

/** Feedback of a scrubbed `user_report` item; null without a message or an event. */
export function parseUserReport(report: unknown, envelopeEventId: string | null): NewFeedback | null {
  if (!isRecord(report)) return null
  const message = textOf(report['comments'], MAX_MESSAGE)
  const eventId = eventIdFrom(report['event_id']) ?? envelopeEventId
  if (message === null || eventId === null) return null
  const [name, email] = [textOf(report['name'], MAX_TEXT), textOf(report['email'], MAX_TEXT)]
  return {
    feedbackId: hash('sha256', JSON.stringify([eventId, name, email, message])).slice(0, 32),
    eventId,
    message,
    name,
    email,
    url: null,
    source: 'user_report',
    replayId: null,
    release: null,
    environment: null,
    userHash: null,
    context: null,
  }
}

/** Reads from an event facts about the app, its device and its user; each at most 256 characters. */
export function readContext(event: Pick<Event, 'contexts' | 'user' | 'transaction'>): MessageContext {
  const { browser = {}, os = {}, device = {}, culture = {}, app = {}, trace = {} } = event.contexts
  const versioned = (context: Readonly<Record<string, unknown>>): string | null => {
    const name = textOf(context['name'], MAX_TEXT)
    return name === null ? null : [name, textOf(context['version'], 64) ?? ''].join(' ').trim()
  }
  return {
    browser: versioned(browser),
    os: versioned(os),
    device: textOf(device['model'], MAX_TEXT) ?? textOf(device['family'], MAX_TEXT),
    language: textOf(culture['locale'], MAX_TEXT) ?? textOf(device['locale'], MAX_TEXT),
    view: (event.transaction === null ? null : cut(event.transaction, MAX_TEXT)) ?? firstView(app['view_names']),
    user: event.user?.id ?? event.user?.username ?? event.user?.email ?? null,
    trace_id: readTraceId(trace['trace_id']),
  }
}

const firstView = (views: unknown): string | null => (Array.isArray(views) ? textOf(views[0], MAX_TEXT) : null)

/**
 * The address that a reply goes to: the one that the author left, in its stored form; null when none was left, or when
 * it is none.
 */
export function readReplyAddress(email: string | null): string | null {
  if (email === null) return null
  const address = z.email().max(254).safeParse(foldEmail(email))
  return address.success ? address.data : null
}

function textOf(value: unknown, max: number): string | null {
  if (typeof value !== 'string') return null
  const text = storable(cut(value.slice(0, max * 2).trim(), max))
  return text === '' ? null : text
}
