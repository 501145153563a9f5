import { CodeBox } from './code-box.tsx'
import { CopyButton } from './copy-button.tsx'

type CommandBoxProps = {
  title: string
  /** The code that is copied. */
  code: string
  /** How it looks, if it is shown with more, such as a remark. */
  shown?: string
  /** The text of the toast after copying. */
  said: string
  className?: string | undefined
}

/** Code to copy, whose long lines can be scrolled by keys. */
export const CommandBox = ({ title, code, shown = code, said, className }: CommandBoxProps) => (
  <CodeBox
    className={className}
    title={<span>{title}</span>}
    action={<CopyButton text={code} said={said} look="ghost" size="sm" />}
  >
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre role="region" aria-label={title} tabIndex={0}>
      <code>{shown}</code>
    </pre>
  </CodeBox>
)
