import type { ReactNode } from 'react'
import type { IconName } from './icon.tsx'
import './last-input.ts'
import { late, useLate } from './late.ts'
import { usePanelTrigger } from './panel-trigger.tsx'

export type MenuEntry = { kind: 'heading'; label: string } | { kind: 'separator' } | MenuItem

export type MenuItem = {
  kind?: 'item'
  /** Unique in its menu. */
  label: string
  /** A name of the icon set, or a tile or avatar. */
  icon?: IconName | { element: ReactNode } | undefined
  /** One letter or digit that chooses the item while the menu is open. */
  letter?: string
  /** A quiet word at the end. */
  note?: string | undefined
  checked?: boolean
  /** Why it cannot be chosen now. */
  why?: string | undefined
  danger?: boolean
  onSelect: () => void
}

type MenuProps = {
  /** A `Button` or another element that takes a ref and props. */
  trigger: ReactNode
  label: string
  entries: readonly MenuEntry[]
  align?: 'start' | 'end' | 'center'
  side?: 'top' | 'bottom'
  open?: boolean | undefined
  onOpenChange?: (open: boolean) => void
}

const panelCode = late(() => import('./menu-panel.tsx').then((module) => module.MenuPanel))

/** Fetches the code of menus before one is opened. */
export const preloadMenus = (): void => void panelCode.fetch().catch(() => undefined)

/**
 * A menu under a button: arrows, typing and the letter of each item choose, Escape closes and gives focus back.
 * Not modal: the page behind keeps scrolling, and no style element is injected (the content policy forbids them).
 */
export function Menu({ trigger, label, entries, align = 'start', side = 'bottom', open, onOpenChange }: MenuProps) {
  const panel = usePanelTrigger(trigger, { kind: 'menu', open, onOpenChange })
  const content = useLate(
    panelCode,
    panel.element === null
      ? null
      : {
          id: panel.panelId,
          trigger: panel.element,
          label,
          entries,
          align,
          side,
          open: panel.open,
          onOpenChange: panel.setOpen,
        },
  )
  return (
    <>
      {panel.button}
      {content}
    </>
  )
}
