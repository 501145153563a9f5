import { textField } from './fields.ts'
import { isList, isRecord } from './json.ts'
import type { Notes } from './notes.ts'
import { cut, tidy } from './strings.ts'

/** The message of an event: plain text, or a template with parameters, in one of two fields. */

const MAX_MESSAGE = 8_192

export type Message = { formatted: string | null; template: string | null }

/** `logentry` takes precedence over `message`. */
export function readMessage(logentry: unknown, message: unknown, notes: Notes): Message {
  const first = readOne(logentry, notes, 'logentry')
  const second = readOne(message, notes, 'message')
  return {
    formatted: first.formatted ?? second.formatted,
    template: first.template ?? (first.formatted === null ? second.template : null),
  }
}

function readOne(raw: unknown, notes: Notes, name: string): Message {
  if (!isRecord(raw)) return { formatted: textField(raw, MAX_MESSAGE, notes, name), template: null }
  const template = textField(raw['message'], MAX_MESSAGE, notes, `${name}.message`)
  const formatted = textField(raw['formatted'], MAX_MESSAGE, notes, `${name}.formatted`)
  if (template === null) return { formatted, template: null }
  const filled = formatted ?? fillTemplate(template, raw['params'])
  // Text without a parameter is no template, so its numbers are replaced for grouping like those of any message.
  return { formatted: filled, template: filled === template ? null : template }
}

const PLACEHOLDER = /%(?:\((\w{1,64})\))?[-+ #0]{0,3}\d{0,4}(?:\.\d{1,4})?([sdifrgexXoOcv%])|\{(\w{0,64})\}/g

/** Puts parameters into a template: `%s`, `%(name)s`, `{}`, `{0}`, `{name}`. Placeholders without a parameter stay. */
export function fillTemplate(template: string, params: unknown): string {
  const list = isList(params) ? params : []
  const named = isRecord(params) ? params : {}
  if (list.length === 0 && Object.keys(named).length === 0) return template
  let next = 0
  const filled = template.replaceAll(
    PLACEHOLDER,
    (whole: string, percentName: string | undefined, kind: string | undefined, braceName: string | undefined) => {
      if (kind === '%') return '%'
      const name = percentName ?? braceName
      let value: unknown
      if (name === undefined || name === '') value = next < list.length ? list[next++] : undefined
      else if (Object.hasOwn(named, name)) value = named[name]
      else if (/^\d{1,3}$/.test(name)) value = list[Number(name)]
      return value === undefined ? whole : paramText(value)
    },
  )
  return tidy(filled, MAX_MESSAGE)
}

function paramText(value: unknown): string {
  if (typeof value === 'string') return cut(value, 1_024)
  if (typeof value === 'object' && value !== null) return '[object]'
  return String(value)
}
