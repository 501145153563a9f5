import { useState } from 'react'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { issueTexts } from '../texts.ts'
import { safeUrl } from '../../../../ui/safe-url.ts'
import { cutText } from '../../../../subjects/issue/headline.ts'
import { classNames } from '../../../../ui/class-names.ts'
import { KeyValues } from '../../../../ui/key-values.tsx'
import { TextButton } from '../../../../ui/text-button.tsx'
import styles from './value.module.css'
import typeStyles from '../../../../ui/type.module.css'

/** Any value of an event's JSON. */
export type Value = Event['extra'][string] | undefined

/** Longer values are collapsed at first. */
const SHORT_LENGTH = 320
const SHORT_LINES = 6

const textOf = (value: Value): string =>
  typeof value === 'string' ? value : value === undefined ? '' : (JSON.stringify(value, null, 2) ?? '')

/** A value of an event as text, never as markup; http addresses are links. */
export function ValueText({ value }: { value: Value }) {
  const [whole, setWhole] = useState(false)
  if (value === null || value === undefined) return <span className={typeStyles.quiet}>null</span>
  const text = textOf(value)
  if (text === '') return <span className={typeStyles.quiet}>“”</span>
  const url = typeof value === 'string' && /^https?:\/\//iu.test(value) ? safeUrl(value) : null
  if (url !== null && text.length <= SHORT_LENGTH) {
    return (
      <a href={url} rel="noopener noreferrer" target="_blank">
        {text}
      </a>
    )
  }
  const lines = text.split('\n')
  const long = text.length > SHORT_LENGTH || lines.length > SHORT_LINES
  const shown = whole || !long ? text : `${lines.slice(0, SHORT_LINES).join('\n').slice(0, SHORT_LENGTH)}…`
  return (
    <>
      <span className={styles.val}>{shown}</span>
      {long ? (
        <TextButton aria-expanded={whole} onClick={() => setWhole(!whole)} className={styles.more}>
          {whole ? issueTexts.showLess : issueTexts.showAll}
        </TextButton>
      ) : null}
    </>
  )
}

/** A message; a long one is collapsed at first. */
export function LongText({ text, maxLength }: { text: string; maxLength: number }) {
  const [whole, setWhole] = useState(false)
  if (text.length <= maxLength) return text
  return (
    <>
      {whole ? text : cutText(text, maxLength)}{' '}
      <TextButton aria-expanded={whole} onClick={() => setWhole(!whole)} className={styles.more}>
        {whole ? issueTexts.showLess : issueTexts.showAll}
      </TextButton>
    </>
  )
}

/** Names and values in two columns. */
export function Values({ values }: { values: readonly (readonly [string, Value])[] }) {
  return (
    <KeyValues className={classNames(styles.kvData, typeStyles.codeValues)}>
      {values.map(([name, value], index) => (
        // A header may be repeated.
        <div key={`${name} ${index}`}>
          <dt title={name}>{name}</dt>
          <dd>
            <ValueText value={value} />
          </dd>
        </div>
      ))}
    </KeyValues>
  )
}
