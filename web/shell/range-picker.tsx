import { countsStart } from '#shared/time-ranges.ts'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useRef, useState } from 'react'
import { useKeys } from '../app/keys.ts'
import { RANGES } from '#shared/issue-values.ts'
import { DEFAULT_RANGE, type Range } from '../address/search.ts'
import { Button, buttonLook } from '../ui/button.tsx'
import { formatWindow } from '../ui/format.ts'
import { Menu } from '../ui/menu.tsx'
import { Segmented } from '../ui/segmented.tsx'
import { shellTexts } from './texts.ts'
import { useNow } from '../ui/now.ts'
import { useScope } from '../app/use-scope.ts'
import { classNames } from '../ui/class-names.ts'
import styles from './range-picker.module.css'
import shellStyles from './shell.module.css'

const DatesDialog = lazy(() => import('./dates-dialog.tsx').then((module) => ({ default: module.DatesDialog })))

const options = RANGES.map((range) => ({ value: range, label: range, title: shellTexts.rangeNames[range] }))

/** Selects the time range (`T`, or `1`–`4`), where a page offers it also any dates (`5`). On phones a button shows the range and opens a menu. */
export function RangePicker() {
  const { range, window, offers } = useScope()
  const unsaid = offers.defaultRange ?? DEFAULT_RANGE
  const navigate = useNavigate()
  const group = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(false)
  const [isDating, setDating] = useState(false)
  const now = useNow('half-minute')
  // A part of the range belongs to it; other dates replace it.
  const shown =
    window !== null && offers.dates === true && Date.parse(window.from) < countsStart(now, range) ? null : range

  const choose = (next: Range) =>
    void navigate({
      to: '.',
      search: (before) => ({
        ...before,
        range: next === unsaid ? undefined : next,
        cursor: undefined,
        from: undefined,
        to: undefined,
      }),
    })

  const date = (dates: { from: string; to: string } | null) => {
    setDating(false)
    void navigate({
      to: '.',
      search: (before) => ({ ...before, cursor: undefined, from: dates?.from, to: dates?.to }),
    })
  }

  const show = () => {
    const pressed = group.current?.querySelector<HTMLElement>('[aria-pressed="true"]')
    // Hidden on phones, where the menu replaces it.
    if (pressed != null && pressed.offsetParent !== null) pressed.focus()
    else setOpen(true)
  }
  useKeys([
    { keys: 't', label: shellTexts.range, group: 'General', run: show, sheetOnly: true },
    ...RANGES.map((value, index) => ({
      keys: String(index + 1),
      label: shellTexts.rangeNames[value],
      group: 'General' as const,
      run: () => choose(value),
    })),
    ...(offers.dates === true
      ? [{ keys: '5', label: shellTexts.dates.title, group: 'General' as const, run: () => setDating(true) }]
      : []),
  ])

  const datesTitle =
    window === null ? shellTexts.dates.title : shellTexts.dates.chosen(formatWindow(window.from, window.to))
  return (
    <>
      <div ref={group} className={classNames(styles.wide, shellStyles.wideOnly)}>
        <Segmented label={shellTexts.range} value={shown} options={options} onChange={choose} />
        {offers.dates === true ? (
          <Button
            look="ghost"
            size="sm"
            icon="clock"
            aria-haspopup="dialog"
            aria-pressed={window !== null}
            title={datesTitle}
            aria-label={datesTitle}
            onClick={() => setDating(true)}
          >
            {shellTexts.dates.button}
          </Button>
        ) : null}
      </div>
      <div className={classNames(styles.phone, shellStyles.phoneOnly)}>
        <Menu
          label={shellTexts.range}
          open={open}
          onOpenChange={setOpen}
          entries={[
            ...options.map((option) => ({
              label: option.title,
              checked: option.value === shown,
              onSelect: () => choose(option.value),
            })),
            ...(offers.dates === true
              ? [{ label: shellTexts.dates.title, checked: shown === null, onSelect: () => setDating(true) }]
              : []),
          ]}
          trigger={
            <button
              {...buttonLook()}
              type="button"
              aria-label={`${shown ?? datesTitle}, ${shellTexts.range.toLowerCase()}`}
            >
              {shown ?? shellTexts.dates.button}
            </button>
          }
        />
      </div>
      {isDating ? (
        <Suspense fallback={null}>
          <DatesDialog dates={window} onChoose={date} onClose={() => setDating(false)} />
        </Suspense>
      ) : null}
    </>
  )
}
