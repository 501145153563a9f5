#!/usr/bin/env node
/** The command `faultline` of the package: finds the Node it needs and runs the program. Parses on Node 20.19. */
import { join } from 'node:path'
import { launch } from './launch.mjs'
import { requireNode, root } from './runtime.mjs'

launch(requireNode(), [join(root, 'server', 'main.js'), ...process.argv.slice(2)])
