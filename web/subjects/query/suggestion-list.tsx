import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useImperativeHandle, useState, type KeyboardEvent, type RefObject } from 'react'
import { viewsQuery } from '../../api/view-queries.ts'
import choiceStyles from '../../ui/choice.module.css'
import { classNames } from '../../ui/class-names.ts'
import { useOptionList } from '../../ui/combobox.ts'
import { useDelayed } from '../../ui/delayed.ts'
import fitStyles from '../../ui/fit.module.css'
import { formatCount } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { shown, taken, typedText, type FieldState, type TypedPart } from './model.ts'
import { readQueries } from './recent-queries.ts'
import type { QuerySource, Suggestions } from './source.ts'
import { queryTexts } from './texts.ts'
import styles from './suggestion-list.module.css'
import floatingStyles from '../../ui/floating.module.css'

export type ListHandle = {
  /** Handles a key of the input; false if it is not for the list. */
  onKeyDown: (event: KeyboardEvent) => boolean
}

type Option = {
  readonly key: string
  readonly text: string
  readonly isCode: boolean
  readonly note: string | null
  readonly count: number | null
  readonly take: () => void
}
type Group = { readonly name: keyof typeof queryTexts.groups; readonly options: readonly Option[] }

type SuggestionListProps = {
  handle: RefObject<ListHandle | null>
  label: string
  /** Name of the list in the recent queries. */
  list: string
  source: QuerySource
  part: TypedPart
  state: FieldState
  /** The list's id and its active option; null while nothing is suggested. */
  onListed: (listed: { listId: string; activeId: string | null } | null) => void
  /** `isDone` if a term is whole, so that the list closes. */
  onTake: (state: FieldState, caret: number, isDone: boolean) => void
  /** The field shows the query of a view that opens. */
  onView: (state: FieldState) => void
}

/** Whether a group completes the typed part; the others replace the whole query. */
const isCompletion = (name: Group['name']): boolean => name === 'keys' || name === 'values'

/** More are found by typing. */
const MAX_OPTIONS = 10
const MAX_RECENT = 4
const FRESH_MS = 30_000
const DELAY_MS = 120

/** Suggestions for what is typed. The input keeps the focus. */
export function SuggestionList(props: SuggestionListProps) {
  const { handle, label, source, part, onListed } = props
  const { groups, note } = useGroups(props)
  const options = groups.flatMap((group) => group.options)
  const { at, setAt, step, listId, optionId, list } = useOptionList(options.length, -1)
  // Other text has another list, with no active option.
  const typing = `${part.key} ${part.prefix}`
  const [seen, setSeen] = useState(typing)
  if (seen !== typing) {
    setSeen(typing)
    setAt(-1)
  }
  const isEmpty = options.length === 0
  const activeId = at < 0 ? null : optionId(at)
  useEffect(() => onListed(isEmpty ? null : { listId, activeId }), [onListed, isEmpty, listId, activeId])
  useEffect(() => () => onListed(null), [onListed])
  useImperativeHandle(handle, () => ({
    onKeyDown: ({ key, shiftKey }) => {
      if (isEmpty || shiftKey) return false
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        step(key === 'ArrowDown' ? 1 : -1)
        return true
      }
      // Tab takes what completes what is typed. Without anything typed it leaves the field.
      const completes =
        key === 'Tab' && (part.key !== null || part.prefix !== '')
          ? groups.findLast(({ name }) => isCompletion(name))
          : undefined
      const option = options[at] ?? completes?.options[0]
      if (option === undefined || (key !== 'Enter' && key !== 'Tab')) return false
      option.take()
      return true
    },
  }))
  const optionProps = (index: number) => ({
    id: optionId(index),
    role: 'option',
    'aria-selected': index === at,
    tabIndex: -1,
    onClick: options[index]?.take,
    onPointerMove: () => setAt(index),
  })
  if (isEmpty) return null
  return (
    <div
      className={classNames(floatingStyles.floating, floatingStyles.rising, styles.list)}
      // The input keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
    >
      <div role="listbox" id={listId} ref={list} aria-label={`${label}: ${queryTexts.suggestions}`}>
        {groups.map((group) => (
          <div role="group" aria-label={queryTexts.groups[group.name]} key={group.name}>
            <p className={styles.heading} role="presentation">
              {queryTexts.groups[group.name]}
            </p>
            {group.options.map((option) => {
              const index = options.indexOf(option)
              return (
                <div
                  key={option.key}
                  {...optionProps(index)}
                  className={classNames(styles.option, choiceStyles.pressed)}
                >
                  {group.name === 'recent' ? <Icon name="clock" /> : null}
                  <span className={option.isCode ? classNames(styles.code, fitStyles.ellipsis) : fitStyles.ellipsis}>
                    {option.text}
                  </span>
                  <span className={styles.note}>{option.note}</span>
                  <span className={styles.count}>
                    {option.count === null
                      ? null
                      : queryTexts.count(formatCount(option.count), option.count, source.unit)}
                  </span>
                </div>
              )
            })}
          </div>
        ))}
      </div>
      {note === null ? null : <p className={styles.foot}>{note}</p>}
    </div>
  )
}

/** The suggestions in the order of the list. */
function useGroups({ list, source, part, state, onTake, onView }: SuggestionListProps): {
  groups: readonly Group[]
  note: string | null
} {
  const { key, prefix } = part
  const [recent] = useState(() => readQueries(list))
  const views = useQuery({ ...viewsQuery, enabled: source.onView !== undefined }).data
  const typing = `${key ?? ''}:${prefix}`
  const asked = useDelayed(typing, DELAY_MS)
  const [askedKey = '', ...askedPrefix] = asked.split(':')
  const found = useQuery({
    queryKey: ['suggestions', source.id, asked.toLowerCase()],
    queryFn: async ({ signal }) => {
      const given = askedKey === '' ? null : askedKey
      return { key: given, ...(await source.suggest(given, askedPrefix.join(':'), signal)) }
    },
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })
  // While more is typed, the last answer is narrowed.
  const isAnswer = asked === typing && !found.isPlaceholderData
  const known: Suggestions | undefined = found.data?.key === key ? found.data : undefined
  const items = (known?.items ?? []).filter(
    ({ text, label }) => isAnswer || `${text} ${label ?? ''}`.toLowerCase().includes(prefix.toLowerCase()),
  )
  const options = items.slice(0, MAX_OPTIONS).map((item): Option => {
    const isKey = key === null
    const isQuoted = item.text.startsWith('"')
    const next = taken(state, part, isKey ? `${item.text}:` : item.text)
    return {
      key: item.text,
      text: (isQuoted ? item.label : null) ?? item.text,
      isCode: true,
      note: isQuoted ? null : item.label,
      count: item.count,
      take: () => onTake(next.state, next.caret, !isKey && !part.inList),
    }
  })
  if (key !== null) {
    const isWhole = items.length === 1 && items[0]?.text === prefix
    const note = known?.newest == null ? null : queryTexts.newest(known.newest)
    return { groups: options.length === 0 || isWhole ? [] : [{ name: 'values', options: options }], note }
  }
  const written = state.text.trim().toLowerCase()
  const matches = (text: string) => text.toLowerCase().includes(written) && text.toLowerCase() !== written
  const queries = recent.filter(matches).slice(0, MAX_RECENT)
  const named = (views ?? []).filter(({ name }) => matches(name))
  const groups: Group[] = [
    {
      name: 'recent',
      options: queries.map((text) => ({
        key: `query ${text}`,
        text,
        isCode: true,
        note: null,
        count: null,
        take: () => onTake(shown(text), typedText(shown(text)).length, true),
      })),
    },
    {
      name: 'views',
      options: named.slice(0, MAX_RECENT).map((view) => ({
        key: view.id,
        text: view.name,
        isCode: false,
        note: view.query,
        count: null,
        take: () => {
          onView(shown(view.query))
          source.onView?.(view)
        },
      })),
    },
    { name: 'keys', options: options },
  ]
  return { groups: groups.filter(({ options }) => options.length > 0), note: null }
}
