import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useKeys } from '../../../app/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { askTexts as texts } from './texts.ts'
import promptStyles from '../../../subjects/assistant/prompt.module.css'
import styles from './composer.module.css'
import fitStyles from '../../../ui/fit.module.css'

const MAX_CHARACTERS = 4_000

type ComposerProps = {
  /** A question that another page wrote. */
  draft: string
  isRunning: boolean
  onSend: (question: string) => void
  onStop: () => void
  children: ReactNode
}

/** The field of a question. Its text is its own, so that typing does not wait for a growing answer. */
export function AskComposer({ draft, isRunning, onSend, onStop, children }: ComposerProps) {
  const [text, setText] = useState(draft)
  const field = useRef<HTMLTextAreaElement>(null)
  useKeys([{ keys: '/', label: texts.keys.focus, group: 'Page', run: () => field.current?.focus() }])
  const send = () => {
    if (isRunning || text.trim() === '') return
    onSend(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className={promptStyles.prompt}>
      <textarea
        ref={field}
        rows={2}
        value={text}
        maxLength={MAX_CHARACTERS}
        aria-label={texts.question}
        placeholder={texts.placeholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.foot}>
        <div className={classNames(fitStyles.wrapsCentred, fitStyles.fills)}>{children}</div>
        {isRunning ? (
          <Button icon="stop" keys="escape" onClick={onStop}>
            {texts.stop}
          </Button>
        ) : (
          <Button look="primary" keys="enter" onClick={send}>
            {texts.send}
          </Button>
        )}
      </div>
    </div>
  )
}
