import { CodeBox } from '../../../ui/code-box.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { releasesTexts } from './texts.ts'

type CommandBoxProps = {
  title: string
  code: string
  /** The text of the toast after copying. */
  said?: string
}

/** Code to copy, whose long lines can be scrolled by keys. */
export const CommandBox = ({ title, code, said = releasesTexts.commandCopied }: CommandBoxProps) => (
  <CodeBox title={<span>{title}</span>} action={<CopyButton text={code} said={said} look="ghost" size="sm" />}>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre role="region" aria-label={title} tabIndex={0}>
      <code>{code}</code>
    </pre>
  </CodeBox>
)
