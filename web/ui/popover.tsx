import { lazy, Suspense, type ReactNode } from 'react'
import { usePanelTrigger } from './panel-trigger.tsx'

type PopoverProps = {
  trigger: ReactNode
  label: string
  children: ReactNode
  align?: 'start' | 'end' | 'center'
  side?: 'top' | 'bottom'
  /** Beside that of every panel. */
  className?: string
  open?: boolean | undefined
  onOpenChange?: (open: boolean) => void
}

const loadPanel = () => import('./popover-panel.tsx')
const PopoverPanel = lazy(() => loadPanel().then((module) => ({ default: module.PopoverPanel })))

/** Fetches the code of popovers before one is opened. */
export const preloadPopovers = (): void => void loadPanel().catch(() => undefined)

/** A small panel under a button for controls that a menu cannot hold. Escape closes and gives focus back. */
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
  return (
    <>
      {panel.button}
      {panel.element === null ? null : (
        <Suspense fallback={null}>
          <PopoverPanel
            id={panel.panelId}
            trigger={panel.element}
            label={label}
            align={align}
            side={side}
            className={className}
            open={panel.open}
            onOpenChange={panel.setOpen}
          >
            {children}
          </PopoverPanel>
        </Suspense>
      )}
    </>
  )
}
