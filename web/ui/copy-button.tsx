import { Button, IconButton, type ButtonLook, type ButtonSize } from './button.tsx'
import { copyText } from './copy.ts'
import { addToast } from './toasts.tsx'
import { uiTexts } from './texts.ts'

/** Copies a text and shows a toast. */
export async function copyAndSay(text: string, said: string): Promise<void> {
  if (await copyText(text)) addToast({ text: said, icon: 'copy' })
  else addToast({ text: uiTexts.copyFailed, tone: 'bad' })
}

type CopyButtonProps = {
  text: string
  /** Text of the toast: "DSN copied". */
  said: string
  children?: string
  /** Shows only the icon; `children` is its accessible name. */
  iconOnly?: boolean
  look?: ButtonLook
  size?: ButtonSize
  keys?: string | undefined
}

export function CopyButton({
  text,
  said,
  children = uiTexts.copy,
  iconOnly = false,
  look,
  size,
  keys,
}: CopyButtonProps) {
  const onClick = () => void copyAndSay(text, said)
  if (iconOnly)
    return (
      <IconButton
        icon="copy"
        label={children}
        look={look ?? 'ghost'}
        size={size ?? 'sm'}
        keys={keys}
        onClick={onClick}
      />
    )
  return (
    <Button
      icon="copy"
      {...(look === undefined ? {} : { look })}
      {...(size === undefined ? {} : { size })}
      keys={keys}
      onClick={onClick}
    >
      {children}
    </Button>
  )
}
