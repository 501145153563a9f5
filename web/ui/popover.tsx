import { Popover as Primitive } from 'radix-ui'
import { useState, type ReactNode } from 'react'
import { landmark } from './landmark.ts'

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
  const [ownOpen, setOwnOpen] = useState(false)
  return (
    <Primitive.Root open={open ?? ownOpen} onOpenChange={onOpenChange ?? setOwnOpen}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal container={landmark()}>
        <Primitive.Content
          className={className === undefined ? 'popover' : `popover ${className}`}
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // It comes a moment after the panel is gone: whoever went on to a field by then stays there.
            if (document.activeElement !== null && document.activeElement !== document.body) event.preventDefault()
          }}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
