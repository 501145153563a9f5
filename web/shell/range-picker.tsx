import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useKeys } from '../common/keys.ts'
import { RANGES } from '#shared/issue-values.ts'
import { DEFAULT_RANGE, type Range } from '../address/search.ts'
import { buttonLook } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'
import { Segmented } from '../ui/segmented.tsx'
import { shellTexts } from './texts.ts'
import { useScope } from '../common/use-scope.ts'
import styles from './range-picker.module.css'

const options = RANGES.map((range) => ({ value: range, label: range, title: shellTexts.rangeNames[range] }))

/** Selects the time range (`T`, or `1`–`4`). On phones a button shows the range and opens a menu. */
export function RangePicker() {
  const { range, offers } = useScope()
  const unsaid = offers.defaultRange ?? DEFAULT_RANGE
  const navigate = useNavigate()
  const group = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState(false)

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
  ])

  return (
    <>
      <div ref={group} className={styles.wide}>
        <Segmented label={shellTexts.range} value={range} options={options} onChange={choose} />
      </div>
      <div className={styles.phone}>
        <Menu
          label={shellTexts.range}
          open={open}
          onOpenChange={setOpen}
          entries={options.map((option) => ({
            label: option.title,
            checked: option.value === range,
            onSelect: () => choose(option.value),
          }))}
          trigger={
            <button {...buttonLook()} type="button" aria-label={`${range}, ${shellTexts.range.toLowerCase()}`}>
              {range}
            </button>
          }
        />
      </div>
    </>
  )
}
