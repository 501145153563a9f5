import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState, type KeyboardEvent, type Ref } from 'react'
import { SearchHelp } from './search-help.tsx'
import { useShownPlatform } from '../../common/issue/platforms.ts'
import { useAssignees } from '../../common/members/use-assignees.ts'
import type { Issue } from '../../api/issue-queries.ts'
import { windowOf, type IssuesSearch } from '../../address/search.ts'
import { Button } from '../../ui/button.tsx'
import { formatWindow } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { Menu, type MenuEntry } from '../../ui/menu.tsx'
import { Popover } from '../../ui/popover.tsx'
import { SEVERITY_NAMES } from '../../ui/status.tsx'
import { issuesTexts } from './texts.ts'
import styles from './filters.module.css'

const FilterPanel = lazy(() => import('./filter-panel.tsx').then((module) => ({ default: module.FilterPanel })))

export type SearchChange = (change: Partial<IssuesSearch>) => void

/** Delay between typing and searching; Enter searches immediately. */
const SETTLE_MS = 250

type SearchBoxProps = {
  search: IssuesSearch
  onChange: SearchChange
  inputRef: Ref<HTMLInputElement>
}

/** The search field: filters as tokens, then the query. */
export function SearchBox({ search, onChange, inputRef }: SearchBoxProps) {
  const applied = search.q ?? ''
  const [typed, setTyped] = useState(applied)
  /** The query that was submitted and is not in the address yet. */
  const asked = useRef<readonly string[]>([])
  const apply = () => {
    const q = typed.trim()
    if (q === (asked.current.at(-1) ?? applied)) return
    asked.current = [...asked.current, q]
    onChange({ q: q === '' ? undefined : q })
  }
  const applySettled = useEffectEvent(apply)
  // Back and "Clear filters" change the query from outside. Our own change of the address must not undo later typing.
  useEffect(() => {
    const own = asked.current.lastIndexOf(applied)
    asked.current = own === -1 ? [] : asked.current.slice(own + 1)
    if (own === -1) setTyped(applied)
  }, [applied])
  useEffect(() => {
    // An unfinished query would be an error: it is sent only on Enter.
    if (!looksWhole(typed)) return undefined
    const timer = setTimeout(applySettled, SETTLE_MS)
    return () => clearTimeout(timer)
  }, [typed, applied])

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') apply()
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      if (typed === '') event.currentTarget.blur()
      else setTyped('')
    }
  }
  return (
    <div className={styles.q}>
      <span className={styles.qI}>
        <Icon name="search" />
      </span>
      <Tokens search={search} onChange={onChange} />
      <input
        ref={inputRef}
        type="search"
        value={typed}
        placeholder={issuesTexts.searchHint}
        aria-label={issuesTexts.search}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Kbd keys="/" />
      <SearchHelp onTake={(term) => setTyped(typed.trim() === '' ? term : `${typed.trim()} ${term}`)} />
    </div>
  )
}

/** Whether a query looks complete. */
export function looksWhole(text: string): boolean {
  const outside = text.replaceAll(/"(?:\\["\\]|[^"])*"/g, '""')
  const count = (sign: string) => outside.split(sign).length - 1
  return (
    count('"') % 2 === 0 &&
    count('(') === count(')') &&
    count('[') === count(']') &&
    !/(?:^|[\s(])(?:AND|OR|NOT)\s*$|[\w.]:[<>=]*$/u.test(outside)
  )
}

function Tokens({ search, onChange }: { search: IssuesSearch; onChange: SearchChange }) {
  const tokens = useTokens(search)
  return tokens.map((token) => (
    <span key={token.name} className={styles.tok}>
      <b>{token.name}</b> {token.value}
      <button type="button" aria-label={issuesTexts.removeFilter(token.name)} onClick={() => onChange(token.clear)}>
        <Icon name="x" />
      </button>
    </span>
  ))
}

/** The filters as texts, for the search field and the empty state. */
export function useTokens(search: IssuesSearch): { name: string; value: string; clear: Partial<IssuesSearch> }[] {
  const { assignees } = useAssignees(search.assignee !== undefined)
  const platforms = useShownPlatform(search.project ?? null)
  const tokens: { name: string; value: string; clear: Partial<IssuesSearch> }[] = []
  if (search.severity !== undefined) {
    const value = search.severity.map((severity) => SEVERITY_NAMES[severity].toLowerCase()).join(', ')
    tokens.push({ name: issuesTexts.severity.toLowerCase(), value, clear: { severity: undefined } })
  }
  if (search.platform !== undefined) {
    const value = [...new Set(search.platform.map(platforms.nameOf))].join(', ')
    tokens.push({ name: issuesTexts.platform.toLowerCase(), value, clear: { platform: undefined } })
  }
  if (search.assignee !== undefined) {
    const value = assigneeName(search.assignee, assignees)
    tokens.push({ name: issuesTexts.assignee.toLowerCase(), value, clear: { assignee: undefined } })
  }
  const window = windowOf(search)
  if (window !== null)
    tokens.push({
      name: issuesTexts.time,
      value: formatWindow(window.from, window.to),
      clear: { from: undefined, to: undefined },
    })
  return tokens
}

function assigneeName(assignee: string, members: readonly { id: string; name: string }[]): string {
  if (assignee === 'me') return issuesTexts.me.toLowerCase()
  if (assignee === 'none') return issuesTexts.unassigned.toLowerCase()
  return members.find(({ id }) => id === assignee)?.name ?? issuesTexts.unknownAssignee.toLowerCase()
}

type FilterButtonProps = {
  search: IssuesSearch
  onChange: SearchChange
  rows: readonly Issue[]
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** The button of the filter panel, which stays open after each change. */
export function FilterButton({ search, onChange, rows, open, onOpenChange }: FilterButtonProps) {
  const count = [search.severity, search.platform, search.assignee].filter((filter) => filter !== undefined).length
  return (
    <Popover
      label={issuesTexts.filters}
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={
        <Button icon="filter" keys="f">
          {count === 0 ? issuesTexts.filter : `${issuesTexts.filter} · ${count}`}
        </Button>
      }
    >
      <Suspense fallback={null}>
        <FilterPanel search={search} onChange={onChange} rows={rows} />
      </Suspense>
    </Popover>
  )
}

const SORT_KEYS = [
  'last_seen',
  'first_seen',
  'event_count_in_range',
  'user_count_in_range',
  'event_count',
  'user_count',
  'severity',
] as const
const SORT_LETTERS = {
  last_seen: 'l',
  first_seen: 'f',
  event_count_in_range: 'e',
  user_count_in_range: 'u',
  event_count: 't',
  user_count: 'a',
  severity: 's',
} as const
type SortKey = (typeof SORT_KEYS)[number]

const keyOf = (sort: NonNullable<IssuesSearch['sort']>): SortKey =>
  SORT_KEYS.find((key) => sort === key || sort === `-${key}`) ?? 'last_seen'

type SortButtonProps = { sort: NonNullable<IssuesSearch['sort']>; onChange: SearchChange }

export function SortButton({ sort, onChange }: SortButtonProps) {
  const current = keyOf(sort)
  const falling = sort.startsWith('-')
  const [down, up] = issuesTexts.sortOrders[current]
  const set = (next: NonNullable<IssuesSearch['sort']>) => onChange({ sort: next === '-last_seen' ? undefined : next })
  const entries: MenuEntry[] = [
    ...SORT_KEYS.map((key): MenuEntry => ({
      label: issuesTexts.sorts[key],
      letter: SORT_LETTERS[key],
      checked: key === current,
      onSelect: () => set(`-${key}`),
    })),
    { kind: 'separator' },
    { label: down, checked: falling, onSelect: () => set(`-${current}`) },
    { label: up, checked: !falling, onSelect: () => set(current) },
  ]
  return (
    <Menu
      label={issuesTexts.sort}
      align="end"
      entries={entries}
      trigger={
        <Button
          icon="sort"
          caret
          title={issuesTexts.sortBy(issuesTexts.sorts[current])}
          aria-label={issuesTexts.sortBy(issuesTexts.sorts[current])}
        >
          {issuesTexts.sorts[current]}
        </Button>
      }
    />
  )
}
