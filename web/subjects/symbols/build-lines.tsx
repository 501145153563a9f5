import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { meQuery, type Project } from '../../api/queries.ts'
import { CommandBox } from '../../ui/command-box.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Toolbar } from '../../ui/stack.tsx'
import { Minor } from '../../ui/text.tsx'
import { listTools, type Tool, writeEnvironment, writeLines } from './build-snippets.ts'
import { buildTexts as texts } from './build-texts.ts'

type BuildLinesProps = {
  project: Pick<Project, 'slug'>
  /** The platform of the app: it decides on the tools. */
  platform: string
}

/** The environment and the lines with which a build uploads by itself. */
export function BuildLines({ project, platform }: BuildLinesProps) {
  const org = useQuery(meQuery).data?.org.slug ?? ''
  const target = { origin: location.origin, org, project: project.slug, platform }
  const tools = listTools(target)
  const [chosen, setTool] = useState<Tool>('sentry-cli')
  const tool = tools.includes(chosen) ? chosen : 'sentry-cli'
  return (
    <>
      <Minor as="p">{texts.lead}</Minor>
      <CommandBox title={texts.environment} code={writeEnvironment(target)} said={texts.copied} />
      <Toolbar>
        <Segmented
          size="sm"
          label={texts.tool}
          value={tool}
          options={tools.map((one) => ({ value: one, label: one }))}
          onChange={setTool}
        />
      </Toolbar>
      <CommandBox title={tool} code={writeLines(target, tool)} said={texts.copied} />
    </>
  )
}
