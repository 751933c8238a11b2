/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/commands.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/parse.h"
#include "config/option_fields.h"
#include "config/option_help.h"
#include "config/option_loader.h"
#include "profile/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define TEXT_MAX_BYTES 65536
#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

int cmd_version(const struct options *options)
{
	struct utsname host;

	(void)options;
	if (uname(&host) < 0)
		return STATUS_FAILED;
	printf("flamelet %s (%s)\n", FLAMELET_VERSION, host.machine);
	return STATUS_OK;
}

static int print_overview(const struct command *commands, size_t nr_commands)
{
	puts("flamelet [COMMAND] [OPTION]...   show which functions use the CPU, by pod and "
	     "process\n\n"
	     "  sudo flamelet                                 10 s of this machine, as a page\n"
	     "  sudo flamelet -d 30s -p 1234 -o cpu.svg       one process, as a flame graph\n"
	     "  sudo flamelet agent --otlp-endpoint http://127.0.0.1:4318\n");
	for (size_t i = 0; i < nr_commands; i++)
		printf("  %-10s %s%s\n", commands[i].name, commands[i].help,
		       i == 0 ? " (the default)" : "");
	puts("\nflamelet help COMMAND lists the options of a command.");
	return STATUS_OK;
}

static int print_help(enum command_id command, bool all)
{
	_cleanup_(strbuf_done) struct strbuf help = strbuf_with_max(TEXT_MAX_BYTES);

	options_help(command, all, &help);
	fputs(strbuf_str(&help), stdout);
	return STATUS_OK;
}

static int run_command(const struct command *command, char *const *args)
{
	_cleanup_(options_done) struct options options = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	struct options_input input = {
		.command = command->id,
		.args = args,
		.service_account_dir = SERVICE_ACCOUNT_DIR,
		.format_from_name = output_format_from_name,
		.output_extensions = output_extensions(),
	};

	while (args[input.nr_args])
		input.nr_args++;
	int r = options_load(&input, &options, &message);
	if (r < 0) {
		fprintf(stderr, "flamelet: %s\n", message.len ? message.data : strerror(-r));
		return r == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
	}
	if (options.help || options.help_all)
		return print_help(command->id, options.help_all);
	log_set_level(options.log_level);
	if (options.warnings.len > 0)
		log_warn("%s", options.warnings.data);
	return command->run(&options);
}

/* Finds the command of that name, or the one with the most similar name. */
static const struct command *find_nearest(const struct command *commands, size_t nr_commands,
					  const char *word)
{
	const struct command *nearest = &commands[0];

	for (size_t i = 1; i < nr_commands; i++) {
		if (word_distance(word, commands[i].name) < word_distance(word, nearest->name))
			nearest = &commands[i];
	}
	return nearest;
}

static int refuse(const char *word, const struct command *nearest)
{
	if (word_distance(word, nearest->name) * 2 > strlen(word))
		fprintf(stderr, "flamelet: no command \"%s\"; see flamelet --help\n", word);
	else
		fprintf(stderr,
			"flamelet: no command \"%s\"; did you mean %s? See flamelet --help\n", word,
			nearest->name);
	return STATUS_USAGE;
}

static bool is_either(const char *arg, const char *word, const char *letter)
{
	return strcmp(arg, word) == 0 || strcmp(arg, letter) == 0;
}

int commands_run(const struct command *commands, size_t nr_commands, char **argv)
{
	char *const *args = argv[0] ? argv + 1 : argv;
	const char *word = args[0];

	if (!word) {
		fputs("flamelet: no options given, recording the whole machine for 10 s; see "
		      "flamelet --help\n",
		      stderr);
		return run_command(&commands[0], args);
	}
	if (is_either(word, "--help", "-h"))
		return print_overview(commands, nr_commands);
	if (is_either(word, "--version", "-V"))
		return cmd_version(NULL);
	if (word[0] == '-')
		return run_command(&commands[0], args);

	bool asks_help = strcmp(word, "help") == 0;
	if (asks_help && (!args[1] || strcmp(args[1], word) == 0))
		return print_overview(commands, nr_commands);
	word = args[asks_help];
	const struct command *command = find_nearest(commands, nr_commands, word);
	if (strcmp(command->name, word) != 0)
		return refuse(word, command);
	return asks_help ? print_help(command->id, false) : run_command(command, args + 1);
}
