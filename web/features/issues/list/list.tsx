import { useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type ReactNode,
  type RefObject,
} from 'react'
import type { Edit } from '../../../subjects/issue/changes.ts'
import type { Issue } from '../../../api/issue-queries.ts'
import { useProjectPlatforms } from '../../../subjects/issue/platforms.ts'
import { IssueRow, type RowMenu } from './row.tsx'
import { DEFAULT_RANGE, selectedWindow, type IssuesSearch } from '../../../address/search.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import { formatWindow } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { useNow } from '../../../ui/now.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { issuesTexts } from './texts.ts'
import type { Selection } from './selection.ts'
import issuesStyles from './issues.module.css'
import styles from './list.module.css'
import typeStyles from '../../../ui/type.module.css'

/** Longer lists render only the visible rows. */
const WHOLE_LIST = 100
const ROW_PX = { comfortable: 54, compact: 42 } as const
const CARD_PX = 124
const OVERSCAN = 8
/** Heights of the parts that cover the page: bar and table head, bulk bar. */
const COVER_TOP_PX = 86
const COVER_FOOT_PX = 84
/** The next page is loaded this many rows before the end. */
const AHEAD_ROWS = 40
const LONG_PRESS_MS = 500
/** A row that has not appeared by then does not exist any more. */
const MAX_FRAMES = 20

export type ListProps = {
  rows: readonly Issue[]
  /** Null if the count is capped. */
  total: number | null
  search: IssuesSearch
  selection: Selection
  /** Increases with each move of the cursor by keys: the row then takes the focus and scrolls into view. */
  focusTurn: number
  canChange: boolean
  menu: { id: string; menu: RowMenu } | null
  onMenu: (id: string, menu: RowMenu) => void
  onEdit: (issue: Issue, edit: Edit) => void
  onToggle: (id: string, range: boolean) => void
  onAll: (all: boolean) => void
  onOpen: (id: string) => void
  onNearEnd: () => void
  /** The pill with new issues, between head and rows. */
  fresh: { label: string; onShow: () => void } | null
  busy: boolean
}

const { columns } = issuesTexts
/** The heads of the columns after the boxes; null for the trend, whose head says its time. */
const HEADS: readonly { head: ReactNode; className: string | undefined }[] = [
  { head: <span className={typeStyles.hidden}>{issuesTexts.severity}</span>, className: issuesStyles.cellSev },
  { head: columns.issue, className: issuesStyles.cellTitle },
  { head: null, className: issuesStyles.cellTrend },
  { head: columns.events, className: classNames(issuesStyles.cellEv, fitStyles.textEnd, typeStyles.medium) },
  { head: columns.users, className: classNames(issuesStyles.cellUs, fitStyles.textEnd) },
  { head: columns.age, className: classNames(issuesStyles.cellAge, fitStyles.tight, narrowStyles.hiddenAt924) },
  { head: columns.status, className: issuesStyles.cellSt },
  { head: columns.assignee, className: issuesStyles.cellWho },
]

/** The list as a table, virtualised if it is long. */
export function IssueList(props: ListProps) {
  const { rows, total, search, selection, focusTurn, fresh, onAll, onNearEnd, onToggle, busy } = props
  const body = useRef<HTMLDivElement>(null)
  const cards = useCards(body)
  const windowed = rows.length > WHOLE_LIST || (total ?? Infinity) > WHOLE_LIST
  const all = rows.length > 0 && rows.every((row) => selection.selected.has(row.id))

  useLongPress(body, (id) => onToggle(id, false))

  return (
    <>
      {fresh === null ? null : (
        <button className={classNames(issuesStyles.fresh, fitStyles.icons13)} type="button" onClick={fresh.onShow}>
          <Icon name="up" />
          {fresh.label} <Kbd keys="." />
        </button>
      )}
      <div
        role="table"
        className={fitStyles.contents}
        aria-label={issuesTexts.stream}
        aria-rowcount={total === null ? -1 : total + 1}
        aria-busy={busy}
      >
        <div role="rowgroup" className={classNames(issuesStyles.streamH, narrowStyles.hiddenAt600)}>
          <div role="row" aria-rowindex={1} className={classNames(issuesStyles.streamHead, narrowStyles.hiddenAt600)}>
            <span role="columnheader" className={issuesStyles.cellCheck}>
              <label className={classNames(issuesStyles.cellCheck, fitStyles.fullWidth)}>
                <input
                  type="checkbox"
                  checked={all}
                  aria-label={issuesTexts.selectAll}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = !all && selection.selected.size > 0
                  }}
                  onChange={() => onAll(!all)}
                />
              </label>
            </span>
            {HEADS.map(({ head, className }) => (
              <span key={className} role="columnheader" className={className}>
                {head ??
                  (selectedWindow(search) === null
                    ? issuesTexts.trendOver[search.range ?? DEFAULT_RANGE]
                    : columns.trend)}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={busy ? `${styles.issues} ${styles.isOld}` : styles.issues} ref={body}>
          {windowed ? (
            <WindowedRows {...props} body={body} cards={cards} key={cards ? 'cards' : 'rows'} />
          ) : (
            <AllRows {...props} focusTurn={focusTurn} onNearEnd={onNearEnd} body={body} />
          )}
        </div>
      </div>
    </>
  )
}

type RowsProps = ListProps & { body: RefObject<HTMLDivElement | null> }

const rowOf = (body: HTMLElement | null, id: string | null): HTMLElement | null =>
  id === null ? null : (body?.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`) ?? null)

function takeFocus(row: HTMLElement | null): boolean {
  const link = row?.querySelector<HTMLElement>('a[data-row-link]')
  link?.focus({ preventScroll: true })
  return link != null
}

function useRow(props: ListProps, now: number) {
  const { search, selection, canChange, menu, onMenu, onEdit, onToggle, onOpen } = props
  const { project, range } = search
  // Memoised, so that rows do not render again.
  const carried = useMemo(() => ({ project, range }), [project, range])
  const window = selectedWindow(search)
  const time = window === null ? issuesTexts.rangeIn[range ?? DEFAULT_RANGE] : formatWindow(window.from, window.to)
  const kinds = useProjectPlatforms()
  return (issue: Issue, index: number, style?: CSSProperties, measure?: (element: HTMLElement | null) => void) => (
    <IssueRow
      key={issue.id}
      issue={issue}
      kind={kinds.get(issue.project_id)}
      index={index}
      position={index + 1}
      now={now}
      selected={selection.selected.has(issue.id)}
      cursor={selection.cursor === issue.id}
      search={carried}
      time={time}
      canChange={canChange}
      menu={menu?.id === issue.id ? menu.menu : null}
      onMenu={onMenu}
      onEdit={onEdit}
      onToggle={onToggle}
      onOpen={onOpen}
      style={style}
      measure={measure}
    />
  )
}

/** A short list: all rows are rendered, so that the browser's search finds them. */
function AllRows(props: RowsProps) {
  const { rows, selection, focusTurn, body } = props
  const row = useRow(props, useNow('half-minute'))
  const turned = useRef(focusTurn)
  useLayoutEffect(() => {
    if (turned.current === focusTurn) return
    turned.current = focusTurn
    const element = rowOf(body.current, selection.cursor)
    element?.scrollIntoView({ block: 'nearest' })
    takeFocus(element)
  }, [body, focusTurn, selection.cursor])
  return rows.map((issue, index) => row(issue, index))
}

function WindowedRows(props: RowsProps & { cards: boolean }) {
  const { rows, selection, focusTurn, body, cards, onNearEnd } = props
  const rowPx = ROW_PX[usePrefs().density]
  const row = useRow(props, useNow('half-minute'))
  const [top, setTop] = useState(0)
  // The React compiler is not used.
  // oxlint-disable-next-line react/incompatible-library
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (cards ? CARD_PX : rowPx),
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: COVER_TOP_PX,
    scrollPaddingEnd: COVER_FOOT_PX,
    getItemKey: (index) => rows[index]?.id ?? index,
  })

  useEffect(() => virtual.measure(), [rowPx, virtual])

  // Content above the list can change its height.
  useLayoutEffect(() => {
    const place = () => {
      const box = body.current?.getBoundingClientRect()
      if (box !== undefined) setTop(Math.round(box.top + scrollY))
    }
    place()
    const observer = new ResizeObserver(place)
    const page = body.current?.closest('main')
    if (page != null) observer.observe(page)
    return () => observer.disconnect()
  }, [body])

  const turned = useRef(focusTurn)
  const frame = useRef(0)
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
  useLayoutEffect(() => {
    if (turned.current === focusTurn) return
    turned.current = focusTurn
    cancelAnimationFrame(frame.current)
    const index = rows.findIndex((one) => one.id === selection.cursor)
    if (index < 0) return
    if (cards) virtual.scrollToIndex(index, { align: 'auto' })
    else bringRowIntoView(top + index * rowPx, rowPx)
    // A distant row is rendered only after scrolling.
    const reach = (framesLeft: number) => {
      if (takeFocus(rowOf(body.current, selection.cursor)) || framesLeft === 0) return
      frame.current = requestAnimationFrame(() => reach(framesLeft - 1))
    }
    reach(MAX_FRAMES)
  }, [body, focusTurn, cards, rowPx, rows, selection.cursor, top, virtual])

  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - AHEAD_ROWS) onNearEnd()
  }, [last, rows.length, onNearEnd])

  return (
    <div className={fitStyles.relative} role="presentation" style={{ blockSize: virtual.getTotalSize() }}>
      {items.map((item) => {
        const issue = rows[item.index]
        if (issue === undefined) return null
        const style = {
          position: 'absolute',
          insetInline: 0,
          insetBlockStart: 0,
          transform: `translateY(${item.start - top}px)`,
        } as const
        return row(issue, item.index, style, cards ? virtual.measureElement : undefined)
      })}
    </div>
  )
}

/** Rows have a fixed height, so their position needs no layout: holding J down is fast. */
function bringRowIntoView(rowTop: number, rowPx: number): void {
  const first = scrollY + COVER_TOP_PX
  const last = scrollY + innerHeight - COVER_FOOT_PX
  if (rowTop < first) scrollTo({ top: rowTop - COVER_TOP_PX })
  else if (rowTop + rowPx > last) scrollTo({ top: rowTop + rowPx - innerHeight + COVER_FOOT_PX })
}

/** As in issues.module.css. */
const MAX_CARDS_PX = 600

/** Whether the page is so narrow that issues are cards, which have the height of their text; rows are all the same. */
function useCards(body: RefObject<HTMLDivElement | null>): boolean {
  const [cards, setCards] = useState(false)
  useLayoutEffect(() => {
    const container = body.current?.closest('main')?.firstElementChild
    if (container == null) return undefined
    const follow = () => setCards(container.clientWidth <= MAX_CARDS_PX)
    follow()
    const observer = new ResizeObserver(follow)
    observer.observe(container)
    return () => observer.disconnect()
  }, [body])
  return cards
}

/** A long press on a touch screen selects a row and does not open it. */
function useLongPress(body: RefObject<HTMLDivElement | null>, onPress: (id: string) => void): void {
  const press = useRef(onPress)
  useEffect(() => {
    press.current = onPress
  })
  useEffect(() => {
    const element = body.current
    if (element === null) return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let pressed = false
    const start = (event: globalThis.PointerEvent) => {
      pressed = false
      if (event.pointerType !== 'touch' || !(event.target instanceof Element)) return
      const id = event.target.closest<HTMLElement>('[data-id]')?.dataset.id
      if (id === undefined) return
      timer = setTimeout(() => {
        pressed = true
        press.current(id)
      }, LONG_PRESS_MS)
    }
    const end = () => clearTimeout(timer)
    const swallow = (event: Event) => {
      if (!pressed) return
      event.preventDefault()
      event.stopPropagation()
      if (event.type === 'click') pressed = false
    }
    element.addEventListener('pointerdown', start)
    for (const name of ['pointerup', 'pointercancel', 'pointermove', 'pointerleave'])
      element.addEventListener(name, end)
    element.addEventListener('click', swallow, true)
    element.addEventListener('contextmenu', swallow, true)
    return () => {
      end()
      element.removeEventListener('pointerdown', start)
      for (const name of ['pointerup', 'pointercancel', 'pointermove', 'pointerleave'])
        element.removeEventListener(name, end)
      element.removeEventListener('click', swallow, true)
      element.removeEventListener('contextmenu', swallow, true)
    }
  }, [body])
}
