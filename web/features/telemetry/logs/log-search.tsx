import { useRef, useState } from 'react'
import { selectedWindow, type LogsSearch } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import fieldStyles from '../../../subjects/query/query-field.module.css'
import { FilterChip } from '../../../subjects/query/chip.tsx'
import { Button } from '../../../ui/button.tsx'
import { formatWindow } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import typeStyles from '../../../ui/type.module.css'
import { emptyToNone, parseTyped } from './model.ts'
import { logsTexts as texts } from './texts.ts'
import styles from './log-search.module.css'

type LogSearchProps = {
  search: LogsSearch
  onChange: (change: Partial<LogsSearch>) => void
  isFiltering: boolean
  onFilter: () => void
}

/** The search field with the filters as chips. */
export function LogSearch({ search, onChange, isFiltering, onFilter }: LogSearchProps) {
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(search.q ?? '')
  useKeys([
    { keys: '/', label: texts.searchKey, group: 'Page', run: () => input.current?.focus() },
    { keys: 'f', label: texts.filter, group: 'Page', run: onFilter },
  ])
  return (
    <div className={styles.bar}>
      <form
        role="search"
        className={fieldStyles.field}
        onSubmit={(event) => {
          event.preventDefault()
          const filters = parseTyped(typed, search)
          setTyped(filters.q ?? '')
          onChange({ ...filters, at: undefined })
        }}
      >
        <div className={fieldStyles.box}>
          <Icon name="search" className={typeStyles.quiet} />
          {listChips(search).map(({ name, value, clear }) => (
            <FilterChip
              key={`${name} ${value}`}
              name={name}
              value={value}
              label={texts.removeFilter(`${name} ${value}`)}
              onRemove={() => {
                onChange(clear)
                // The chip goes.
                input.current?.focus()
              }}
            />
          ))}
          <input
            ref={input}
            type="search"
            aria-label={texts.search}
            placeholder={texts.placeholder}
            value={typed}
            maxLength={700}
            onChange={(event) => setTyped(event.target.value)}
          />
          <span className={fieldStyles.end}>
            <Kbd keys="/" />
          </span>
        </div>
      </form>
      <Button icon="filter" keys="f" className={styles.filter} aria-expanded={isFiltering} onClick={onFilter}>
        {texts.filter}
      </Button>
    </div>
  )
}

function listChips(search: LogsSearch): { name: string; value: string; clear: Partial<LogsSearch> }[] {
  const { level, trace } = search
  const pairs = (side: 'with' | 'without') =>
    (search[side] ?? []).map((pair) => {
      const at = pair.indexOf('=')
      const name = pair.slice(0, at)
      return {
        name: side === 'with' ? name : texts.chips.not(name),
        value: pair.slice(at + 1),
        clear: { [side]: emptyToNone((search[side] ?? []).filter((one) => one !== pair)) },
      }
    })
  const window = selectedWindow(search)
  return [
    ...(level === undefined ? [] : [{ name: texts.chips.level, value: level.join(', '), clear: { level: undefined } }]),
    ...(trace === undefined
      ? []
      : [{ name: texts.chips.trace, value: trace.slice(0, 8), clear: { trace: undefined } }]),
    ...pairs('with'),
    ...pairs('without'),
    ...(window === null
      ? []
      : [
          {
            name: texts.chips.time,
            value: formatWindow(window.from, window.to),
            clear: { from: undefined, to: undefined },
          },
        ]),
  ]
}
