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
  /** An icon's name, or a tile or avatar. */
  icon?: IconName | { element: ReactNode } | undefined
  /** One letter or digit that chooses the item while the menu is open. */
  letter?: string
  /** Secondary text at the end. */
  note?: string | undefined
  checked?: boolean
  /** Why the item is disabled. */
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

/** Loads the code of menus in advance. */
export const preloadMenus = (): void => void panelCode.fetch().catch(() => undefined)

/**
 * A menu of a button: arrow keys, typing and letters choose an item, Escape closes it and returns the focus. Not modal:
 * the page still scrolls, and no style element is injected, which the content security policy forbids.
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
