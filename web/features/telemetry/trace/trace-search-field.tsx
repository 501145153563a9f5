import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { TracesSearch } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import typeStyles from '../../../ui/type.module.css'
import { listChips, pastedTraceId } from './traces-model.ts'
import { tracesTexts as texts } from './traces-texts.ts'
import styles from './trace-search-field.module.css'

/** The set filters, and a field for a text or a trace id, which opens its trace. */
export function TraceSearchField({ search }: { search: TracesSearch }) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  useKeys([{ keys: '/', label: texts.searchLabel, group: 'Page', run: () => field.current?.focus() }])
  const open = (given: string) => {
    const traceId = pastedTraceId(given)
    if (traceId !== null) return void navigate(paths.trace(traceId))
    const q = given.trim()
    return q === '' ? undefined : void navigate(paths.traces({ ...search, q }))
  }
  return (
    <form
      role="search"
      className={classNames(styles.field, fitStyles.bareInput)}
      onSubmit={(event) => {
        event.preventDefault()
        open(text)
      }}
    >
      <Icon name="search" className={classNames(typeStyles.quiet, fitStyles.fixed)} />
      {listChips(search).map(({ key, label, value, without }) => (
        <span key={key} className={styles.chip}>
          <span>{label}</span> <b className={fitStyles.ellipsis}>{value}</b>
          <Link {...paths.traces(without)} aria-label={texts.remove(`${label} ${value}`)}>
            <Icon name="x" />
          </Link>
        </span>
      ))}
      <input
        ref={field}
        type="search"
        aria-label={texts.searchLabel}
        placeholder={texts.search}
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData('text')
          if (pastedTraceId(pasted) === null) return
          event.preventDefault()
          open(pasted)
        }}
      />
    </form>
  )
}
