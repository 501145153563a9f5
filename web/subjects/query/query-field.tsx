import {
  lazy,
  Suspense,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type ComponentProps,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react'
import { addTerm, isFinished, replaceBetween } from '#shared/query-terms.ts'
import { Icon } from '../../ui/icon.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import { QueryChip } from './chip.tsx'
import type { QueryHint } from '../../api/query-hints.ts'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import typeStyles from '../../ui/type.module.css'
import type { QueryMistake } from './mistake.ts'
import { chipsAround, partAt, removed, reopened, shown, typed, typedText, type Chip, type FieldState } from './model.ts'
import { QueryNotes } from './notes.tsx'
import { addQuery } from './recent-queries.ts'
import type { QuerySource } from './source.ts'
import type { ListHandle } from './suggestion-list.tsx'
import styles from './query-field.module.css'

const SuggestionList = lazy(() =>
  import('./suggestion-list.tsx').then((module) => ({ default: module.SuggestionList })),
)

/** Delay between typing and searching; Enter searches immediately. */
const SETTLE_MS = 250
const NO_HINTS: readonly QueryHint[] = []

type QueryFieldProps = {
  label: string
  placeholder: string
  /** Name of the list in the recent queries. */
  list: string
  /** The query of the address. */
  query: string
  onSearch: (query: string) => void
  source: QuerySource
  /** The mistake that the list found in `query`. */
  mistake?: QueryMistake | null
  hints?: readonly QueryHint[]
  /** Filters that are no terms of the query, before its chips. */
  tokens?: ReactNode
  /** The element at the end of the field; it may add a term. */
  end?: (onAdd: (term: string) => void) => ReactNode
  inputRef?: RefObject<HTMLInputElement | null>
  /** The key that focuses the field. */
  keys?: string
}

/**
 * The field of a query: chips for its terms, the rest as text, suggestions while typing, and below what is wrong with
 * it. It searches when typing pauses; an unfinished query waits for Enter.
 */
export function QueryField(props: QueryFieldProps) {
  const { label, placeholder, list, query, onSearch, source, mistake = null, hints = NO_HINTS } = props
  const own = useRef<HTMLInputElement>(null)
  const input = props.inputRef ?? own
  const root = useRef<HTMLDivElement>(null)
  const suggestions = useRef<ListHandle>(null)
  const notesId = useId()
  const [state, setState] = useState(() => shown(query))
  const [caret, setCaret] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const [listed, setListed] = useState<Listed | null>(null)
  /** Where the caret goes when the field has rendered. */
  const [put, setPut] = useState<{ start: number; caret: number } | null>(null)
  const search = useSettledSearch({ query, text: state.text, onSearch, onOther: () => setState(shown(query)) })
  useLayoutEffect(() => {
    if (put === null) return
    input.current?.focus()
    input.current?.setSelectionRange(put.start, put.caret)
  }, [put, input])
  const value = typedText(state)
  const { before, after } = chipsAround(state)
  const part = isOpen ? partAt(value, Math.min(caret, value.length)) : null
  const isRefused = mistake !== null && state.text.trim() === query

  /** Changes the field, with the caret at a position of its input. */
  const change = (next: FieldState, at = typedText(next).length) => {
    setState(next)
    setCaret(at)
    setPut({ start: at, caret: at })
  }
  /** Takes all chips into the input and selects its text, to copy, replace or delete the query as a whole. */
  const selectAll = () => {
    const text = state.text.trimEnd()
    setState({ text, from: 0, to: text.length })
    setPut({ start: 0, caret: text.length })
    close()
  }
  const close = () => {
    setOpen(false)
    setListed(null)
  }
  const settle = () => {
    close()
    setState(shown(state.text))
    remember(list, state.text)
  }
  const reopen = (chip: Chip) => {
    const next = reopened(state, chip)
    change(next, chip.end - next.from)
  }

  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    const { selectionStart, selectionEnd } = event.currentTarget
    const last = before.at(-1)
    if (part !== null && suggestions.current?.onKeyDown(event) === true) event.preventDefault()
    else if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && before.length + after.length > 0) {
      event.preventDefault()
      selectAll()
    } else if (event.key === 'ArrowDown') {
      event.preventDefault()
      setOpen(true)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      search(state.text)
      settle()
    } else if (event.key === 'Backspace' && selectionStart === 0 && selectionEnd === 0 && last !== undefined) {
      event.preventDefault()
      reopen(last)
    } else if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      if (listed !== null) close()
      else if (state.text !== '') change(shown(''))
      else event.currentTarget.blur()
    }
  }
  const onBlur = (event: FocusEvent) => {
    if (root.current?.contains(event.relatedTarget) !== true) settle()
  }
  const chips = {
    wrong: isRefused ? mistake.position : null,
    onEdit: reopen,
    onRemove: (chip: Chip) => change(removed(state, chip)),
  }

  return (
    <div className={styles.field} ref={root} onBlur={onBlur}>
      <div className={styles.box} data-invalid={isRefused ? '' : undefined}>
        <span className={classNames(fitStyles.icons14, typeStyles.quiet)}>
          <Icon name="search" />
        </span>
        {props.tokens}
        <Chips chips={before} {...chips} />
        <QueryInput
          ref={input}
          listed={listed}
          isBetween={after.length > 0}
          aria-label={label}
          aria-invalid={isRefused ? true : undefined}
          aria-describedby={notesId}
          placeholder={state.text === '' ? placeholder : undefined}
          value={value}
          onChange={(event) => {
            const at = event.target.selectionStart ?? event.target.value.length
            const next = typed(state, event.target.value)
            setOpen(true)
            if (next.from === state.from) {
              setState(next)
              setCaret(at)
            } else change(next)
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
          onClick={() => setOpen(true)}
          onKeyDown={onKeyDown}
        />
        <Chips chips={after} {...chips} />
        <span className={styles.end}>
          {props.keys === undefined ? null : <Kbd keys={props.keys} />}
          {props.end?.((term) => change(shown(addTerm(state.text, term))))}
        </span>
      </div>
      {part === null ? null : (
        <Suspense fallback={null}>
          <SuggestionList
            handle={suggestions}
            label={label}
            list={list}
            source={source}
            part={part}
            state={state}
            onListed={setListed}
            onView={(next) => {
              change(next)
              close()
            }}
            onTake={(next, at, isDone) => {
              change(next, at)
              if (!isDone) return
              close()
              search(next.text)
              remember(list, next.text)
            }}
          />
        </Suspense>
      )}
      <QueryNotes
        id={notesId}
        query={query}
        mistake={isRefused ? mistake : null}
        hints={state.text.trim() !== query ? NO_HINTS : (mistake?.hints ?? hints)}
        onReplace={({ start, end, replacement }) => {
          const next = replaceBetween(query, start, end, replacement ?? '')
          change(shown(next))
          search(next)
        }}
      />
    </div>
  )
}

/** The list of suggestions that is open, and its chosen row. */
type Listed = { listId: string; activeId: string | null }

type QueryInputProps = ComponentProps<'input'> & {
  value: string
  listed: Listed | null
  /** Chips follow: the input is as wide as its text. */
  isBetween: boolean
}

const QueryInput = ({ listed, isBetween, ...rest }: QueryInputProps) => (
  <input
    {...rest}
    type="text"
    role="combobox"
    enterKeyHint="search"
    aria-autocomplete="list"
    aria-expanded={listed !== null}
    aria-controls={listed?.listId}
    aria-activedescendant={listed?.activeId ?? undefined}
    autoComplete="off"
    autoCapitalize="none"
    spellCheck={false}
    data-between={isBetween ? '' : undefined}
    style={isBetween ? { inlineSize: `${rest.value.length + 1}ch` } : undefined}
  />
)

type SettledSearchOptions = {
  /** The query of the address. */
  query: string
  /** The query as it is typed. */
  text: string
  onSearch: (query: string) => void
  /** The query of the address is another than those that were searched here. */
  onOther: () => void
}

/**
 * Searches when typing pauses, unless the query is unfinished.
 * @returns searches at once
 */
function useSettledSearch({ query, text, onSearch, onOther }: SettledSearchOptions): (text: string) => void {
  /** The queries that were searched and are not in the address yet. */
  const asked = useRef<readonly string[]>([])
  const search = (wanted: string) => {
    const q = wanted.trim()
    if (q === (asked.current.at(-1) ?? query)) return
    asked.current = [...asked.current, q]
    onSearch(q)
  }
  const searchSettled = useEffectEvent(() => search(text))
  const follow = useEffectEvent(onOther)
  // Back and "Clear filters" change the query from outside. Our own change of the address must not undo later typing.
  useEffect(() => {
    const known = asked.current.lastIndexOf(query)
    asked.current = known === -1 ? [] : asked.current.slice(known + 1)
    if (known === -1) follow()
  }, [query])
  useEffect(() => {
    // An unfinished query would be an error: it is sent only on Enter.
    if (!isFinished(text)) return undefined
    const timer = setTimeout(searchSettled, SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text, query])
  return search
}

function remember(list: string, text: string): void {
  if (isFinished(text) && text.trim() !== '') addQuery(list, text.trim())
}

type ChipsProps = {
  chips: readonly Chip[]
  /** The place of the mistake. */
  wrong: QueryMistake['position']
  onEdit: (chip: Chip) => void
  onRemove: (chip: Chip) => void
}

const Chips = ({ chips, wrong, onEdit, onRemove }: ChipsProps) =>
  chips.map((chip) => (
    <QueryChip
      key={`${chip.start} ${chip.text}`}
      chip={chip}
      isWrong={wrong !== null && wrong.start < chip.end && chip.start < wrong.end}
      onEdit={() => onEdit(chip)}
      onRemove={() => onRemove(chip)}
    />
  ))
