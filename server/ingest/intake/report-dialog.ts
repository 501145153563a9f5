import { readFileSync } from 'node:fs'
import { AppError, invalid } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { writeEnvelope } from '../../events/protocol/envelope.ts'
import { answerAccepted, answerWith } from './answers.ts'
import type { ArrivalHead, Endpoint } from './endpoint.ts'

/** 4,096 characters, percent-encoded, and the other fields. */
const MAX_BYTES = 64 * 1024
const FORM = 'application/x-www-form-urlencoded'

const NO_KEY: Readonly<Record<string, string>> = {}

/**
 * `/api/embed/error-page/?dsn=…&eventId=…`: `showReportDialog()` of browser SDKs. GET answers a script that asks the user what
 * happened; its form is posted to the same address and becomes the user report of the event, which may arrive later. The
 * DSN has the key (intake.ts).
 */
export const reportDialogEndpoint: Endpoint = {
  methods: 'GET, POST',
  match(path) {
    const [found, key] = /^embed\/error-page(?:\/([0-9a-f]{32}))?$/.exec(path) ?? []
    if (found === undefined) return null
    return key === undefined ? NO_KEY : { key }
  },
  maxWireBytes: MAX_BYTES,
  announcesLimits: true,
  check(head) {
    requireEventId(head)
    if (head.method === 'POST' && head.mediaType !== FORM)
      throw new AppError('unsupported_media', `Send the report as ${FORM}.`)
  },
  storesNothing: ({ method }) => method === 'GET',
  async toEnvelope(arrival) {
    const eventId = requireEventId(arrival)
    const form = new URLSearchParams((await arrival.decoded()).toString())
    const comments = (form.get('comments') ?? '').trim()
    if (comments === '') throw invalid('comments must not be empty.')
    const report = { event_id: eventId, name: form.get('name') ?? '', email: form.get('email') ?? '', comments }
    return writeEnvelope({ event_id: eventId }, [{ type: 'user_report', payload: JSON.stringify(report) }])
  },
  accepted: (response, head, { eventId }) =>
    head.method === 'GET'
      ? answerWith(response, 200, 'text/javascript; charset=utf-8', scriptOf(head), SCRIPT_HEADERS)
      : answerAccepted(response, eventId),
}

/** The script has the user's name and e-mail address, so no cache may keep it. */
const SCRIPT_HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

function requireEventId({ query }: ArrivalHead): string {
  const eventId = eventIdFrom(new URLSearchParams(query).get('eventId'))
  if (eventId === null) throw invalid('eventId must be the id of an event: 32 hex digits.')
  return eventId
}

/** Texts of the form by the options of `showReportDialog()`. */
const TEXTS = {
  title: 'Something went wrong',
  subtitle: 'The team has been informed.',
  subtitle2: 'Tell us what you were doing, and it can be fixed sooner.',
  labelName: 'Name',
  labelEmail: 'Email',
  labelComments: 'What happened?',
  labelSubmit: 'Send report',
  labelClose: 'Close',
  errorGeneric: 'Your report could not be sent. Please try again.',
  errorFormEntry: 'Please describe what happened, and check your email address.',
  successMessage: 'Thank you. Your report has been sent.',
}
const MAX_TEXT = 1_000
const MAX_PERSON = 256

const SCRIPT = readFileSync(new URL('./report-dialog.js', import.meta.url), 'utf8')

function scriptOf(head: ArrivalHead): string {
  const query = new URLSearchParams(head.query)
  const valueOf = (name: string, max: number): string => (query.get(name) ?? '').slice(0, max).toWellFormed()
  const lang = valueOf('lang', 35)
  const options = {
    dsn: valueOf('dsn', 2_048),
    eventId: requireEventId(head),
    name: valueOf('name', MAX_PERSON),
    email: valueOf('email', MAX_PERSON),
    lang: /^[a-z]{2,8}(?:-[a-z0-9]{1,8})*$/i.test(lang) ? lang : '',
    texts: Object.fromEntries(
      Object.entries(TEXTS).map(([name, text]) => [name, query.has(name) ? valueOf(name, MAX_TEXT) : text]),
    ),
  }
  // As in a page: no end of a script element and no line separator, wherever the script is put.
  const json = JSON.stringify(options).replaceAll(
    /[<>\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return SCRIPT.replace(/\(OPTIONS\)\s*$/, () => `(${json})\n`)
}
