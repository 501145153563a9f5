import type { ReactNode } from 'react'
import { late, useLate } from './late.ts'
import { usePanelTrigger } from './panel-trigger.tsx'

type PopoverProps = {
  trigger: ReactNode
  label: string
  children: ReactNode
  align?: 'start' | 'end' | 'center'
  side?: 'top' | 'bottom'
  /** Added to the class name of every panel. */
  className?: string
  open?: boolean | undefined
  onOpenChange?: (open: boolean) => void
}

const panelCode = late(() => import('./popover-panel.tsx').then((module) => module.PopoverPanel))

/** Loads the code of popovers in advance. */
export const preloadPopovers = (): void => void panelCode.fetch().catch(() => undefined)

/** A small panel of a button for controls that a menu cannot contain. Escape closes it and returns the focus. */
export function Popover({
  trigger,
  label,
  children,
  align = 'start',
  side = 'bottom',
  className,
  open,
  onOpenChange,
}: PopoverProps) {
  const panel = usePanelTrigger(trigger, { kind: 'dialog', open, onOpenChange })
  const content = useLate(
    panelCode,
    panel.element === null
      ? null
      : {
          id: panel.panelId,
          trigger: panel.element,
          label,
          align,
          side,
          className,
          open: panel.open,
          onOpenChange: panel.setOpen,
          children,
        },
  )
  return (
    <>
      {panel.button}
      {content}
    </>
  )
}
